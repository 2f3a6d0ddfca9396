#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/memory/memory_resource.hpp>
#include <ouro/memory/tlsf_heap.hpp>
#include <ouro/streams/state_ring.hpp>

#include <cstddef>
#include <string_view>

namespace ouro {

// A heap for code that was not written for this: all it hands out, and all it knows, lies in one segment of a
// ring, so that going back undoes allocations as well. The segment finds writes by itself (Tracking::kernel
// or another that asks nothing of the writers), is process-bound, and belongs to the heap alone.
//
//     auto heap = ForeignHeap::create(*ring, "script");
//     lua_State* lua = lua_newstate(
//         [](void* heap, void* block, std::size_t, std::size_t bytes) {
//             return static_cast<ForeignHeap*>(heap)->resize_unsized(block, bytes);
//         },
//         &*heap);
//
// AddressSanitizer learns nothing of its blocks, since it could not be told when they come back. One thread
// at a time.
class ForeignHeap final : public MemoryResource {
public:
    // Makes an empty heap. Fails with not_found (no such segment), bad_argument (it is portable, or its
    // writers must declare what they write), busy (a tick was committed already: going back before the heap
    // would leave it without memory) and out_of_range (too small). Tick 0 is from before it: who goes back
    // there has a heap that refuses all, and nothing in it.
    [[nodiscard]] static Expected<ForeignHeap> create(StateRing& ring, std::string_view segment) noexcept;

    [[nodiscard]] Expected<MemoryBlock> allocate(
        std::size_t size, std::size_t alignment = kDefaultAlignment) noexcept override {
        return counted(heap_->allocate(size, alignment));
    }
    void deallocate(MemoryBlock block,
                    [[maybe_unused]] std::size_t alignment = kDefaultAlignment) noexcept override {
        heap_->deallocate(block);
    }
    [[nodiscard]] Expected<MemoryBlock> reallocate(
        MemoryBlock block, std::size_t new_size,
        std::size_t alignment = kDefaultAlignment) noexcept override {
        return counted(heap_->reallocate(block, new_size, alignment));
    }

    // For code that frees without saying how much: as malloc, aligned_alloc, realloc and free, with a unit
    // before each block that knows its size. Null when there is no room, or when the alignment is none.
    [[nodiscard]] void* allocate_unsized(std::size_t bytes,
                                         std::size_t alignment = kDefaultAlignment) noexcept;
    // Null is allocated; no bytes free the block. When it fails, the block is as it was. The alignment is
    // what allocate_unsized gives when nothing is said, unless the block stays where it is.
    [[nodiscard]] void* resize_unsized(void* block, std::size_t bytes) noexcept;
    // Requires: a block of these functions, or null.
    void free_unsized(void* block) noexcept;
    // How many bytes were asked for. Requires: a block of these functions.
    [[nodiscard]] static std::size_t size_unsized(const void* block) noexcept;

    [[nodiscard]] bool owns(const void* address) const noexcept override { return memory_.contains(address); }
    [[nodiscard]] ResourceInfo info() const noexcept override { return {.name = "foreign heap"}; }
    // Of the present tick, as they are rolled back too; but for the failures, which change nothing in the
    // image and are counted outside of it.
    [[nodiscard]] ResourceStats stats() const noexcept override;
    [[nodiscard]] Status check() const noexcept override { return heap_->check(); }

private:
    void* fail_unsized() noexcept;

    ForeignHeap(TlsfHeap* heap, MemoryBlock memory) noexcept : heap_(heap), memory_(memory) {}

    Expected<MemoryBlock> counted(Expected<MemoryBlock> block) noexcept {
        if (!block) [[unlikely]]
            ++failures_;
        return block;
    }

    TlsfHeap* heap_;
    MemoryBlock memory_;
    std::uint64_t failures_ = 0;
};

}  // namespace ouro
