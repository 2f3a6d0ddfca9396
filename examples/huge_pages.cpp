// A large table on huge pages, and the truth about whether it is: the arena takes the best pages that the
// system has, and says when they were not the ones asked for.
#include <ouro/memory/huge_page_arena.hpp>

#include <cstdio>

int main() {
    constexpr std::size_t kBytes = std::size_t{16} << 20;
    auto arena =
        ouro::HugePageArena::create({.max_bytes = 2 * kBytes, .pages = ouro::os::PageKind::reserved});
    if (!arena) return 1;
    const auto table = arena->allocate(kBytes, 64);
    if (!table) {
        std::printf("no memory: %s\n", ouro::status_text(table.status()).data());
        return 1;
    }
    for (std::size_t i = 0; i < table->size; i += 4096)
        table->data[i] = std::byte{1};

    const ouro::HugePageArena::Report report = arena->report();
    std::printf("on reserved huge pages %zu MiB, on transparent ones %zu MiB, on normal pages %zu MiB\n",
                report.reserved_bytes >> 20, report.transparent_bytes >> 20, report.normal_bytes >> 20);
    if (report.downgrades != 0)
        std::printf("not all as asked for: %s\n", ouro::status_text(report.last_reason).data());

    arena->reset();
    const std::size_t returned = arena->trim();
    std::printf("%zu MiB went back\n", returned >> 20);
    const std::size_t held = report.reserved_bytes + report.transparent_bytes + report.normal_bytes;
    return held == returned && held >= kBytes ? 0 : 1;
}
