#include "process_heap.hpp"

#include "guarded_blocks.hpp"
#include "idle_return.hpp"
#include "lasting.hpp"
#include "mapped_blocks.hpp"
#include "profiled_blocks.hpp"
#include "settings.hpp"

#include <ouro/base/align.hpp>
#include <ouro/memory/detail/block_assert.hpp>
#include <ouro/memory/detail/heap_listing.hpp>
#include <ouro/os/fork_hooks.hpp>
#include <ouro/os/thread.hpp>
#include <ouro/os/thread_exit.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include <sys/resource.h>

namespace ouro::process_heap {
namespace {

using detail::HeapCore;
using detail::ThreadHeap;
using detail::UnitKind;
using detail::UnitMap;

// What is reserved: of addresses there are plenty, unless the process has a limit of them. Then the heap
// takes the half of those, for stacks and libraries need some too. Where that cannot be had, the half
// of it is tried, and so on; without any, every block has a mapping of its own.
constexpr std::size_t kMostReserved = std::size_t{256} << 30;
constexpr std::size_t kLeastReserved = std::size_t{4} << 20;

enum class Stage : std::uint32_t { untouched, starting, ready };
constinit std::atomic<Stage> g_stage = Stage::untouched;
constinit HeapCore* g_core = nullptr;
constinit os::ThreadExitKey g_exit_key;
// Who asks for a profile wants to know what the heap takes as well.
constinit Lasting<detail::HeapListing> g_listing;
// The thread is about to end: what is still freed goes home directly. The C library frees after the last hook
// has run, and a heap taken then would be nobody's for ever.
[[gnu::tls_model("initial-exec")]] constinit thread_local bool t_is_ending = false;

// The value is of no use here: where setting it called malloc, it may be that of a heap left since.
void leave_heap(void*) noexcept {
    ThreadHeap* const heap = t_state.free_heap;
    t_state.heap = nullptr;
    t_state.free_heap = nullptr;
    t_state.counted_heap = nullptr;
    t_is_ending = true;
    const std::uint64_t thread = os::this_thread_id();
    if (heap != nullptr) g_core->abandon_heap(*heap, thread);
    if (g_core->may_be_left()) g_core->abandon_heaps_of(thread);
}

void before_fork(void*) noexcept {
    g_waiting_forks.fetch_add(1, std::memory_order_relaxed);
    while (!g_core->try_begin_purge())
        os::yield_thread();
    g_waiting_forks.fetch_sub(1, std::memory_order_relaxed);
    prepare_guards_for_fork();
    prepare_profile_for_fork();
}
void after_fork(void*) noexcept {
    resume_profile_after_fork();
    resume_guards_after_fork();
    g_core->end_purge();
}
void after_fork_in_child(void*) noexcept {
    resume_profile_after_fork();
    resume_guards_after_fork();
    forget_background_thread();
    g_waiting_forks.store(0, std::memory_order_relaxed);
    g_core->abandon_heaps_except(os::this_thread_id());
    g_core->end_purge();
}

HeapCore* make_core(std::size_t bytes) noexcept {
    const HeapCore::Layout layout = HeapCore::layout_for(bytes / UnitMap::kUnitBytes, os::page_size());
    const auto metadata = os::reserve({.bytes = layout.bytes});
    if (!metadata) return nullptr;
    const auto units = os::reserve({.bytes = bytes, .alignment = HeapCore::kHugeBytes});
    const bool is_usable = units && os::commit({metadata->data, layout.slabs_offset});
    if (!is_usable) {
        if (units) static_cast<void>(os::release(*units));
        static_cast<void>(os::release(*metadata));
        return nullptr;
    }
    HeapCore::Memory memory{.name = "malloc",
                            .metadata = *metadata,
                            .units = *units,
                            .grows = true,
                            .huge_from_bytes = settings().huge_from_bytes};
    g_listing.value.attach_to(memory);
    auto* const core = new (metadata->data) HeapCore(memory, layout, settings().purge_bytes);
    g_region = {reinterpret_cast<std::uintptr_t>(units->data), units->size, core->kinds()};
    return core;
}

std::size_t bytes_to_reserve() noexcept {
    rlimit limit{};
    if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kMostReserved;
    return std::min(kMostReserved, align_down(std::size_t{limit.rlim_cur} / 2, UnitMap::kUnitBytes));
}

void start() noexcept {
    read_settings();
    for (std::size_t bytes = bytes_to_reserve(); g_core == nullptr && bytes >= kLeastReserved;
         bytes = align_down(bytes / 2, UnitMap::kUnitBytes))
        g_core = make_core(bytes);
    if (settings().guard_every != 0) start_guarding(settings().guard_every, settings().guard_slots);
    if (settings().profile_file[0] != '\0' || settings().profile_signal != 0) prepare_profiling();
    if (g_core == nullptr) return;
    // Hooks may be missing in a process that used up all of them: threads then leave their heaps behind.
    if (const auto key = os::make_thread_exit_key(leave_heap)) g_exit_key = *key;
}

// What is told of changes before is true by the end of it.
void list_heap() noexcept {
    if (g_core == nullptr || !is_profiling()) return;
    const MemoryBlock units = g_core->units().units();
    g_listing.value.core = g_core;
    g_listing.value.registration =
        BlockRegistration({.name = "malloc", .base = units.data, .reserved_bytes = units.size});
    detail::HeapListing::update(&g_listing.value);
}

// Everything works without it; fork hooks may call malloc and so come last.
void watch_forks() noexcept {
    if (g_core == nullptr) return;
    static_cast<void>(os::add_fork_hooks({before_fork, after_fork, after_fork_in_child, nullptr}));
}

void ensure_started() noexcept {
    if (g_stage.load(std::memory_order_acquire) == Stage::ready) [[likely]]
        return;
    Stage untouched = Stage::untouched;
    if (g_stage.compare_exchange_strong(untouched, Stage::starting, std::memory_order_acquire)) {
        start();
        g_stage.store(Stage::ready, std::memory_order_release);
        watch_forks();
        list_heap();
        start_profiling();
        return;
    }
    while (g_stage.load(std::memory_order_acquire) != Stage::ready)
        os::yield_thread();
}

ThreadHeap* find_heap() noexcept {
    if (t_state.free_heap != nullptr) return t_state.free_heap;
    const auto heap = g_core->heap_of_this_thread(HeapCore::Search::none);
    if (!heap) return nullptr;
    t_state.free_heap = *heap;
    if (!is_guarding()) (is_profiling() ? t_state.counted_heap : t_state.heap) = *heap;
    // May call malloc, which finds the heap noted.
    if (!os::set_thread_exit_value(g_exit_key, *heap)) g_core->expect_left_heaps();
    return t_state.free_heap;
}

// A heap that was taken over by whoever revokes it is not this thread's any more.
void forget_heap() noexcept {
    t_state.heap = nullptr;
    t_state.free_heap = nullptr;
    t_state.counted_heap = nullptr;
}

void* allocate_small(unsigned size_class) noexcept {
    if (g_core == nullptr) return nullptr;
    visit_idle_memory(*g_core, Errand::allocating);
    while (ThreadHeap* const heap = find_heap()) {
        const auto block = heap->pop_slow(size_class);
        if (block) return *block;
        if (block.status() != Status::busy) break;
        forget_heap();
    }
    return nullptr;
}

void* allocate_units(std::size_t size, std::size_t alignment, bool& is_zero) noexcept {
    if (g_core == nullptr) return nullptr;
    if (t_state.free_heap != nullptr) {
        const MemoryBlock kept = g_core->allocate_kept(size, alignment, *t_state.free_heap);
        if (!kept.is_null()) return kept.data;
    }
    visit_idle_memory(*g_core, Errand::allocating);
    const auto block = g_core->allocate_large(size, alignment, &is_zero);
    return block ? block->data : nullptr;
}

struct Found {
    void* block = nullptr;
    bool is_zero = false;
};

// What the one place has no room for may still fit in the other.
Found find_memory(std::size_t size, std::size_t alignment) noexcept {
    const unsigned size_class = detail::class_for(size, alignment);
    const bool is_for_units = size <= kLargestUnitBytes && alignment <= kLargestUnitBytes;
    Found found;
    if (size_class != detail::kClassCount) {
        found.block = allocate_small(size_class);
    } else if (is_for_units) {
        found.block = allocate_units(size, alignment, found.is_zero);
    }
    if (found.block == nullptr) {
        if (g_core != nullptr && !is_for_units) make_room_for_mapping(*g_core);
        found = {map_block(size, alignment), true};
    }
    if (found.block == nullptr && !is_for_units) found.block = allocate_units(size, alignment, found.is_zero);
    return found;
}

// Before there is none, what idle threads keep serves too, where blocks come from units.
Found find_last_memory(std::size_t size, std::size_t alignment) noexcept {
    ensure_started();
    const std::uint64_t purges = g_core != nullptr ? g_core->ended_purges() : 0;
    Found found = find_memory(size, alignment);
    const bool may_take_back = found.block == nullptr && g_core != nullptr && size <= kLargestUnitBytes &&
                               alignment <= kLargestUnitBytes;
    if (!may_take_back || g_waiting_forks.load(std::memory_order_relaxed) != 0) return found;
    return g_core->take_back(size, purges) ? find_memory(size, alignment) : found;
}

// Everything but a full cache.
[[gnu::noinline]] void* allocate_uncached(std::size_t size, std::size_t alignment, bool zeroed) noexcept {
    const int saved_errno = errno;
    Found found;
    if (size <= kMostBytes && alignment <= kMostBytes) found = find_last_memory(size, alignment);
    if (found.block == nullptr) {
        if (g_core != nullptr) g_core->note_failure();
        errno = ENOMEM;
        return nullptr;
    }
    errno = saved_errno;
    if (zeroed && !found.is_zero) std::memset(found.block, 0, size);
    return found.block;
}

void free_small(unsigned size_class, void* block) noexcept {
    visit_idle_memory(*g_core, Errand::freeing);
    for (;; forget_heap()) {
        ThreadHeap* const heap = t_state.free_heap != nullptr || !t_is_ending ? find_heap() : nullptr;
        if (heap == nullptr) return g_core->send_home(size_class, block);
        if (heap->push_slow(size_class, block)) return;
    }
}

void free_units(std::byte* block) noexcept {
    ThreadHeap* const heap = t_is_ending || !g_core->keeps_runs() ? nullptr : find_heap();
    if (heap == nullptr || !g_core->keep_large(block, *heap)) g_core->deallocate_large(block);
    visit_idle_memory(*g_core, Errand::freeing);
}

}  // namespace

detail::HeapCore* known_core() noexcept {
    return g_core;
}

void start_early() noexcept {
    ensure_started();
}

namespace {

// Whether a block so asked for lies in units or a mapping of its own, whose frees are always slow.
bool is_large(std::size_t size, std::size_t alignment) noexcept {
    return detail::class_for(std::max(size, kAlignment), std::max(alignment, kAlignment)) ==
           detail::kClassCount;
}

}  // namespace

void* allocate_unsampled(std::size_t size, std::size_t alignment, bool zeroed) noexcept {
    ThreadHeap* const heap = t_state.free_heap;
    if (is_guarding()) {
        if (void* const block = allocate_guarded(size, alignment))
            return zeroed ? std::memset(block, 0, size) : block;
    }
    size = std::max(size, kAlignment);
    if (size <= detail::kLargestClassBytes && alignment <= kAlignment && heap != nullptr) {
        if (void* const block = heap->pop(detail::class_of_size(size)))
            return zeroed ? std::memset(block, 0, size) : block;
    }
    return allocate_uncached(size, std::max(alignment, kAlignment), zeroed);
}

namespace {

// These bytes may end in a sample.
[[gnu::cold, gnu::noinline]] void* allocate_sampled(std::size_t size, std::size_t alignment,
                                                    bool zeroed) noexcept {
    if (!is_large(size, alignment)) {
        void* const block = allocate_profiled(size, alignment);
        if (block == nullptr) return allocate_unsampled(size, alignment, zeroed);
        return zeroed ? std::memset(block, 0, size) : block;
    }
    void* const block = allocate_uncached(size, std::max(alignment, kAlignment), zeroed);
    if (block == nullptr) {
        uncount_sample(size);
    } else {
        note_large_block(block, size);
    }
    return block;
}

}  // namespace

void* allocate_due(std::size_t size) noexcept {
    return allocate_sampled(size, kAlignment, false);
}

void* allocate_slow(std::size_t size, std::size_t alignment, bool zeroed) noexcept {
    // What cannot be had is not worth counting.
    const bool is_counted = is_profiling() && size <= kMostBytes;
    if (is_counted && is_sample_due(size)) [[unlikely]]
        return allocate_sampled(size, alignment, zeroed);
    void* const block = allocate_unsampled(size, alignment, zeroed);
    if (block == nullptr && is_counted) uncount_sample(size);
    return block;
}

void deallocate_slow(void* block) noexcept {
    if (block == nullptr) return;
    const UnitKind kind = kind_of(block);
    const int saved_errno = errno;
    if (detail::is_slab(kind)) {
        free_small(detail::class_of_kind(kind), block);
    } else if (is_profiled(block)) {
        free_profiled(block);
    } else if (kind == UnitKind::large_head) {
        if (is_profiling()) forget_large_block(block);
        free_units(static_cast<std::byte*>(block));
    } else if (is_guarded(block)) {
        free_guarded(block);
    } else {
        OURO_BLOCK_ASSERT(kind == UnitKind::none, "free of what malloc did not return", "malloc", block);
        if (is_profiling()) forget_large_block(block);
        unmap_block(block);
    }
    errno = saved_errno;
}

std::size_t usable_size(const void* block) noexcept {
    if (block == nullptr) return 0;
    const UnitKind kind = kind_of(block);
    if (detail::is_slab(kind)) return detail::kClassBytes[detail::class_of_kind(kind)];
    if (kind == UnitKind::large_head) return g_core->large_size(static_cast<const std::byte*>(block));
    if (is_profiled(block)) return profiled_size(block);
    return is_guarded(block) ? guarded_size(block) : mapped_size(block);
}

namespace {

bool is_ready() noexcept {
    return g_stage.load(std::memory_order_acquire) == Stage::ready && g_core != nullptr;
}

}  // namespace

bool purge() noexcept {
    if (!is_ready() || g_waiting_forks.load(std::memory_order_relaxed) != 0) return false;
    return g_core->purge().bytes != 0;
}

Report report() noexcept {
    Report report;
    report.mapped = mapped_totals();
    report.guarded = guarded_totals();
    report.profiled = profiled_totals();
    report.allocations = report.mapped.allocations + report.guarded.allocations + report.profiled.allocations;
    report.idle_returned_bytes = idle_returned_bytes();
    if (!is_ready()) return report;
    report.counts = g_core->count();
    report.usable_bytes = g_core->units().usable_units() * UnitMap::kUnitBytes;
    report.reserved_bytes = g_core->units().units().size;
    report.peak_bytes = g_core->peak_bytes();
    report.free_dirty_bytes = g_core->units().free_dirty_units() * UnitMap::kUnitBytes;
    // Each block that is not there any more took two operations, each that is there one.
    report.allocations += (report.counts.operations + report.counts.live_blocks) / 2;
    report.failures = g_core->failures();
    return report;
}

}  // namespace ouro::process_heap
