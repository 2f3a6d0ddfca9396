// A world is saved while it goes on, and loaded again: into the same image, or into that of another program.
// What the file holds is the same on every platform.
#include <ouro/streams/image_file.hpp>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>

static ouro::Expected<ouro::StateRing> make_world() {
    const ouro::SegmentOptions world{.name = "world", .bytes = 1 << 20};
    return ouro::StateRing::create(
        {.segments = {&world, 1}, .history_ticks = 100, .history_bytes = std::uint64_t{16} << 20});
}

static ouro::Expected<ouro::Tick> step(ouro::StateRing& ring) {
    auto* const counters = reinterpret_cast<std::uint64_t*>(ring.segment_block("world")->data);
    for (std::uint64_t i = 0; i < 10'000; ++i)
        counters[i] += i;
    ring.mark(counters, 10'000 * sizeof(std::uint64_t));
    return ring.commit();
}

int main() {
    auto ring = make_world();
    auto other = make_world();
    if (!ring || !other || !step(*ring) || !step(*ring)) return 1;

    const std::string path = (std::filesystem::temp_directory_path() / "ouro-example.image").string();
    const auto saved = ouro::save_image(*ring->view(2), path.c_str());
    if (!saved) return std::printf("cannot save: %s\n", ouro::status_text(saved.status()).data()), 1;
    std::printf("tick %llu: %u pages in %llu bytes\n", static_cast<unsigned long long>(saved->tick),
                saved->pages, static_cast<unsigned long long>(saved->bytes));

    const auto loaded = ouro::load_image(*other, path.c_str());  // nothing changes when it fails
    std::filesystem::remove(path);
    if (!loaded) return std::printf("cannot load: %s\n", ouro::status_text(loaded.status()).data()), 1;
    const bool is_same = *other->hash(*loaded) == *ring->hash(2);
    std::printf("loaded as tick %llu: %s\n", static_cast<unsigned long long>(*loaded),
                is_same ? "the same hash" : "another hash");
    return is_same ? 0 : 1;
}
