// A small world under observation: creatures come and go, sounds are decoded, a level is loaded. Afterwards
// the profiler knows which functions hold the memory, and `ouro report world.ouro` shows all of it. With a
// folder as argument, the files for viewers are written there.
#include <ouro/base/random.hpp>
#include <ouro/memory/allocator.hpp>
#include <ouro/memory/small_object_allocator.hpp>
#include <ouro/observe/budget.hpp>
#include <ouro/observe/charged_allocator.hpp>
#include <ouro/observe/default_tags.hpp>
#include <ouro/observe/exports.hpp>
#include <ouro/observe/profiler.hpp>
#include <ouro/observe/recording.hpp>
#include <ouro/observe/timeline.hpp>
#include <ouro/os/symbolize.hpp>

#include <array>
#include <cstdio>
#include <string>
#include <vector>

using Blocks = std::vector<ouro::MemoryBlock>;

[[gnu::noinline]] void keep(ouro::Allocator memory, Blocks& blocks, std::size_t bytes) {
    if (const auto block = memory.allocate(bytes)) blocks.push_back(*block);
}
[[gnu::noinline]] void spawn_creature(ouro::Allocator memory, Blocks& blocks, std::size_t bytes) {
    const ouro::TagScope scope(ouro::default_tags().creatures);
    keep(memory, blocks, bytes);
    asm volatile("" ::: "memory");
}
[[gnu::noinline]] void load_level(ouro::Allocator memory, Blocks& blocks) {
    const ouro::TagScope scope(ouro::default_tags().world);
    for (int i = 0; i < 16; ++i)
        keep(memory, blocks, 128 << 10);
    asm volatile("" ::: "memory");
}
[[gnu::noinline]] void decode_sound(ouro::Allocator memory, Blocks& blocks) {
    const ouro::TagScope scope(ouro::default_tags().audio);
    keep(memory, blocks, 48 << 10);
    asm volatile("" ::: "memory");
}
void free_last(ouro::Allocator memory, Blocks& blocks, std::size_t left) {
    for (; blocks.size() > left; blocks.pop_back())
        memory.deallocate(blocks.back());
}

void name_frame(void*, std::uint64_t address, std::span<char> name) {
    const auto place = ouro::os::describe_address(reinterpret_cast<const void*>(address));
    std::snprintf(name.data(), name.size(), "%s", place.function);
}
void write_to(void* file, std::string_view bytes) {
    std::fwrite(bytes.data(), 1, bytes.size(), static_cast<std::FILE*>(file));
}
template <class Write>
bool save(const std::string& path, Write write) {
    std::FILE* const file = std::fopen(path.c_str(), "wb");
    if (file == nullptr) return false;
    write(ouro::ByteSink{.write = write_to, .context = file});
    return std::fclose(file) == 0;
}

int main(int argc, char** argv) {
    auto heap = ouro::SmallObjectAllocator::create({});
    if (!heap || !ouro::kObserving) return heap ? 0 : 1;
    ouro::ChargedAllocator memory(*heap);
    const auto shares = ouro::game_budget_shares();
    if (!ouro::set_budget_shares({.total_bytes = 48 << 20, .shares = shares}) ||
        !ouro::set_timeline_options({.interval_ns = 1, .spike_bytes = 1 << 20, .peak_step_bytes = 4 << 20}) ||
        !ouro::start_profiler({.mean_bytes = 16 << 10, .seed = 7}))
        return 1;
    Blocks creatures, level, sounds;
    ouro::Random random(1);
    for (int frame = 0; frame < 240; ++frame) {
        for (int i = 0; i < 20; ++i)
            spawn_creature(memory, creatures, 1'000 + random.below(4'000));
        if (frame % 80 == 79) free_last(memory, creatures, creatures.size() / 3);
        if (frame == 60) load_level(memory, level);
        decode_sound(memory, sounds);
        if (sounds.size() == 12) free_last(memory, sounds, 0);
        ouro::look_at_timeline();
    }
    std::array<ouro::SiteProfile, 3> sites;
    for (const ouro::SiteProfile& site : ouro::top_sites(ouro::SiteOrder::live, sites))
        std::printf("%s: about %llu bytes\n", ouro::tag_name(site.tag).data(),
                    static_cast<unsigned long long>(site.live.bytes));
    const bool right = ouro::top_sites(ouro::SiteOrder::live, sites).size() >= 2;
    if (argc < 2) return right ? 0 : 1;
    const std::string folder = std::string(argv[1]) + "/";
    const ouro::FrameNames names{.describe = name_frame};
    return right && ouro::save_recording((folder + "world.ouro").c_str()) &&
                   save(folder + "world.trace.json", [](auto sink) { ouro::write_chrome_trace(sink); }) &&
                   save(folder + "world.folded",
                        [&](auto sink) {
                            ouro::write_folded_stacks(sink, ouro::SiteOrder::allocated, names);
                        }) &&
                   save(folder + "world.pprof", [&](auto sink) { ouro::write_pprof(sink, names); })
               ? 0
               : 1;
}
