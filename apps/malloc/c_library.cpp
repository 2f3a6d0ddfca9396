// What the GNU C library has beside the malloc family: programs that link against it find it here too, and
// hear about this heap instead of one that stands empty.
#include "process_heap.hpp"
#include "statistics.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdio>

#include <malloc.h>

namespace heap = ouro::process_heap;

namespace {

#define OURO_EXPORT [[gnu::visibility("default")]]

int as_int(std::size_t number) noexcept {
    return static_cast<int>(std::min<std::size_t>(number, INT_MAX));
}

}  // namespace

extern "C" {

// For programs and debuggers: `call malloc_stats()`.
OURO_EXPORT void malloc_stats() noexcept {
    heap::write_report(heap::ReportFormat::text);
}

OURO_EXPORT int malloc_trim(std::size_t) noexcept {
    const int saved_errno = errno;
    const bool was_something = heap::purge();
    errno = saved_errno;
    return was_something ? 1 : 0;
}

// Its parameters are about the C library's own heap: accepted, and without effect.
OURO_EXPORT int mallopt(int, int) noexcept {
    return 1;
}

OURO_EXPORT struct mallinfo2 mallinfo2() noexcept {
    const heap::Report all = heap::report();
    struct mallinfo2 info = {};
    info.arena = all.usable_bytes;
    info.hblks = all.mapped.blocks;
    info.hblkhd = all.mapped.bytes;
    info.uordblks = all.counts.live_bytes + all.guarded.bytes + all.profiled.bytes;
    info.fordblks = all.usable_bytes - std::min(all.usable_bytes, all.counts.live_bytes);
    info.fsmblks = all.counts.cached_bytes;
    info.keepcost = all.free_dirty_bytes;
    return info;
}

// The old form, whose numbers end where an int does.
OURO_EXPORT struct mallinfo mallinfo() noexcept {
    const struct mallinfo2 wide = mallinfo2();
    struct mallinfo info = {};
    info.arena = as_int(wide.arena);
    info.hblks = as_int(wide.hblks);
    info.hblkhd = as_int(wide.hblkhd);
    info.uordblks = as_int(wide.uordblks);
    info.fordblks = as_int(wide.fordblks);
    info.fsmblks = as_int(wide.fsmblks);
    info.keepcost = as_int(wide.keepcost);
    return info;
}

OURO_EXPORT int malloc_info(int options, FILE* stream) noexcept {
    if (options != 0) return EINVAL;
    const heap::Report all = heap::report();
    const int written = std::fprintf(stream,
                                     "<malloc version=\"1\">\n"
                                     "<total type=\"live\" count=\"%zu\" size=\"%zu\"/>\n"
                                     "<total type=\"mmap\" count=\"%zu\" size=\"%zu\"/>\n"
                                     "<system type=\"current\" size=\"%zu\"/>\n"
                                     "<system type=\"max\" size=\"%zu\"/>\n"
                                     "</malloc>\n",
                                     all.counts.live_blocks + all.guarded.blocks + all.profiled.blocks,
                                     all.counts.live_bytes + all.guarded.bytes + all.profiled.bytes,
                                     all.mapped.blocks, all.mapped.bytes, all.usable_bytes + all.mapped.bytes,
                                     all.usable_bytes + all.mapped.peak_bytes);
    return written < 0 ? errno : 0;
}

}  // extern "C"
