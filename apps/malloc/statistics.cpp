// The report that a program or its user can ask for.
#include "process_heap.hpp"
#include "settings.hpp"
#include "text_output.hpp"

namespace ouro::process_heap {
namespace {

void write_line(const char* name, std::uint64_t value) noexcept {
    write_error("  ");
    write_error(name);
    write_error(" ");
    write_error_number(value);
    write_error("\n");
}

void write_report() noexcept {
    const Report all = report();
    write_error("libouroboros-malloc:\n");
    write_line("live_blocks", all.counts.live_blocks);
    write_line("live_bytes", all.counts.live_bytes);
    write_line("cached_bytes", all.counts.cached_bytes);
    write_line("queued_blocks", all.counts.queued_blocks);
    write_line("mapped_blocks", all.mapped_blocks);
    write_line("mapped_bytes", all.mapped_bytes);
    write_line("allocations", (all.counts.operations + all.counts.live_blocks) / 2);
    write_line("peak_bytes", all.peak_bytes);
    write_line("committed_bytes", all.usable_bytes);
    write_line("free_resident_bytes_at_most", all.free_dirty_bytes);
    write_line("thread_heaps", all.counts.heaps);
    write_line("orphaned_heaps", all.counts.orphans);
}

[[gnu::destructor]] void report_at_exit() noexcept {
    if (settings().statistics_at_exit) write_report();
}

}  // namespace
}  // namespace ouro::process_heap

extern "C" {

// For programs and debuggers: `call malloc_stats()`.
[[gnu::visibility("default")]] void malloc_stats() noexcept {
    ouro::process_heap::write_report();
}

[[gnu::visibility("default")]] int malloc_trim(std::size_t) noexcept {
    return ouro::process_heap::purge() ? 1 : 0;
}

}  // extern "C"
