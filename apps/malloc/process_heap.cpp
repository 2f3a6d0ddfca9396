#include "process_heap.hpp"

#include "mapped_blocks.hpp"
#include "settings.hpp"

#include <ouro/base/assert.hpp>
#include <ouro/os/fork_hooks.hpp>
#include <ouro/os/thread.hpp>
#include <ouro/os/thread_exit.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

namespace ouro::process_heap {
namespace {

using detail::HeapCore;
using detail::ThreadHeap;
using detail::UnitKind;
using detail::UnitMap;

// Where the process may not have that many addresses, the half is tried, and so on.
constexpr std::size_t kMostBytes = std::size_t{256} << 30;
constexpr std::size_t kLeastBytes = std::size_t{64} << 20;
// Larger blocks have a mapping of their own.
constexpr std::size_t kLargestUnitBytes = std::size_t{32} << 20;

enum class Stage : std::uint32_t { untouched, starting, ready };
constinit std::atomic<Stage> g_stage = Stage::untouched;
constinit HeapCore* g_core = nullptr;
constinit os::ThreadExitKey g_exit_key;

void leave_heap(void*) noexcept {
    t_heap = nullptr;
    g_core->abandon_heap_of(os::this_thread_id());
}

void before_fork(void*) noexcept {
    while (!g_core->try_begin_purge())
        os::yield_thread();
}
void after_fork(void*) noexcept {
    g_core->end_purge();
}
void after_fork_in_child(void*) noexcept {
    g_core->abandon_heaps_except(os::this_thread_id());
    g_core->end_purge();
}

HeapCore* make_core(std::size_t bytes) noexcept {
    const HeapCore::Layout layout = HeapCore::layout_for(bytes / UnitMap::kUnitBytes, os::page_size());
    const auto metadata = os::reserve({.bytes = layout.bytes});
    if (!metadata) return nullptr;
    const auto units = os::reserve({.bytes = bytes, .alignment = UnitMap::kUnitBytes});
    const bool is_usable = units && os::commit({metadata->data, layout.slabs_offset});
    if (!is_usable) {
        if (units) static_cast<void>(os::release(*units));
        static_cast<void>(os::release(*metadata));
        return nullptr;
    }
    const HeapCore::Memory memory{.metadata = *metadata, .units = *units, .grows = true};
    auto* const core = new (metadata->data) HeapCore(memory, layout, settings().purge_bytes);
    g_region = {reinterpret_cast<std::uintptr_t>(units->data), units->size, core->kinds()};
    return core;
}

void start() noexcept {
    read_settings();
    for (std::size_t bytes = kMostBytes; g_core == nullptr && bytes >= kLeastBytes; bytes /= 2)
        g_core = make_core(bytes);
    OURO_ASSERT(g_core != nullptr, "the process has no room for a heap: raise its limit of address space");
    // Hooks may be missing in a process that used up all of them: threads then leave their heaps behind.
    if (const auto key = os::make_thread_exit_key(leave_heap)) g_exit_key = *key;
}

// Everything works without it; fork hooks may call malloc and so come last.
void watch_forks() noexcept {
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
        return;
    }
    while (g_stage.load(std::memory_order_acquire) != Stage::ready)
        os::yield_thread();
}

ThreadHeap* find_heap() noexcept {
    if (t_heap != nullptr) return t_heap;
    ensure_started();
    const auto heap = g_core->heap_of_this_thread();
    if (!heap) return nullptr;
    t_heap = *heap;
    // May call malloc, which finds the heap noted.
    static_cast<void>(os::set_thread_exit_value(g_exit_key, *heap));
    return t_heap;
}

void* allocate_small(unsigned size_class) noexcept {
    ThreadHeap* const heap = find_heap();
    if (heap == nullptr) return nullptr;
    const auto block = heap->pop_slow(size_class);
    return block ? *block : nullptr;
}

void* allocate_units(std::size_t size, std::size_t alignment, bool* is_zero) noexcept {
    ensure_started();
    const auto block = g_core->allocate_large(size, alignment, is_zero);
    return block ? block->data : nullptr;
}

}  // namespace

void* allocate_slow(std::size_t size, std::size_t alignment, bool zeroed) noexcept {
    size = std::max(size, kAlignment);
    const unsigned size_class = detail::class_for(size, std::max(alignment, kAlignment));
    void* block = nullptr;
    bool is_zero = false;
    if (size_class != detail::kClassCount) {
        block = allocate_small(size_class);
    } else if (size <= kLargestUnitBytes && alignment <= kLargestUnitBytes) {
        block = allocate_units(size, alignment, &is_zero);
    }
    if (block == nullptr && size_class == detail::kClassCount) {
        block = map_block(size, std::max(alignment, kAlignment));
        is_zero = true;
    }
    if (block == nullptr) {
        errno = ENOMEM;
        return nullptr;
    }
    if (zeroed && !is_zero) std::memset(block, 0, size);
    return block;
}

void deallocate_slow(void* block) noexcept {
    if (block == nullptr) return;
    const int saved_errno = errno;
    const UnitKind kind = kind_of(block);
    if (detail::is_slab(kind)) {
        const unsigned size_class = detail::class_of_kind(kind);
        if (ThreadHeap* const heap = find_heap()) {
            heap->push_slow(size_class, block);
        } else {
            g_core->send_home(size_class, block);
        }
    } else if (kind == UnitKind::large_head) {
        g_core->deallocate_large(static_cast<std::byte*>(block));
    } else {
        OURO_ASSERT(kind == UnitKind::none, "free of what malloc did not return");
        unmap_block(block);
    }
    errno = saved_errno;
}

std::size_t usable_size(const void* block) noexcept {
    if (block == nullptr) return 0;
    const UnitKind kind = kind_of(block);
    if (detail::is_slab(kind)) return detail::kClassBytes[detail::class_of_kind(kind)];
    if (kind == UnitKind::large_head) return g_core->large_size(static_cast<const std::byte*>(block));
    return mapped_size(block);
}

namespace {

// Whether a block of this many bytes may stay for a smaller request: not when it would waste a half.
bool stays(std::size_t usable, std::size_t new_size) noexcept {
    return new_size <= usable && new_size >= usable / 2;
}

// The block with its new size without moving bytes; null when that cannot be.
void* resize_in_place(void* block, std::size_t usable, std::size_t new_size) noexcept {
    if (stays(usable, new_size)) return block;
    const UnitKind kind = kind_of(block);
    if (kind == UnitKind::large_head && new_size > detail::kLargestClassBytes &&
        new_size <= kLargestUnitBytes)
        return g_core->resize_large(static_cast<std::byte*>(block), new_size).data;
    if (kind == UnitKind::none && new_size > kLargestUnitBytes) return remap_block(block, new_size);
    return nullptr;
}

}  // namespace

void* reallocate(void* block, std::size_t new_size) noexcept {
    if (block == nullptr) return allocate(new_size);
    if (new_size == 0) {
        deallocate(block);
        return nullptr;
    }
    const std::size_t usable = usable_size(block);
    if (void* const resized = resize_in_place(block, usable, new_size)) return resized;
    void* const moved = allocate(new_size);
    if (moved == nullptr) return nullptr;
    std::memcpy(moved, block, std::min(usable, new_size));
    deallocate(block);
    return moved;
}

bool purge() noexcept {
    if (g_stage.load(std::memory_order_acquire) != Stage::ready) return false;
    return g_core->purge().bytes != 0;
}

Report report() noexcept {
    Report report;
    const MappedTotals mapped = mapped_totals();
    report.mapped_blocks = mapped.blocks;
    report.mapped_bytes = mapped.bytes;
    if (g_stage.load(std::memory_order_acquire) != Stage::ready) return report;
    report.counts = g_core->count();
    report.usable_bytes = g_core->units().usable_units() * UnitMap::kUnitBytes;
    report.reserved_bytes = g_core->units().units().size;
    report.peak_bytes = g_core->peak_bytes();
    report.free_dirty_bytes = g_core->units().free_dirty_units() * UnitMap::kUnitBytes;
    report.failures = g_core->failures();
    return report;
}

}  // namespace ouro::process_heap
