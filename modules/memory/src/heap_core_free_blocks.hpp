#pragma once

#include <ouro/memory/detail/slab.hpp>

#include <cstddef>
#include <cstdint>

namespace ouro::detail {

class HeapCore;

// The free blocks of a class, one slab after the other: there is no memory to remember those of all slabs at
// once. All free blocks that are not in their slab are added for each slab anew; whatever is added for one
// also tells which comes next, so that only slabs with such blocks are looked at.
class FreeBlocks {
public:
    FreeBlocks(const HeapCore& core, unsigned size_class) noexcept : core_(core), size_class_(size_class) {}

    // Goes on to the next slab, with those blocks that lie in it. False when there is none. Before the first
    // call, adding blocks finds the first slab.
    [[nodiscard]] bool next() noexcept;
    // Requires: a block of the class.
    void add(const void* block) noexcept;
    // None was added twice or lies in its slab too, and all are blocks that were handed out once.
    [[nodiscard]] bool are_sound() const noexcept { return are_sound_; }

private:
    static constexpr std::size_t kNone = ~std::size_t{0};

    const HeapCore& core_;
    unsigned size_class_;
    bool are_sound_ = true;
    std::size_t unit_ = kNone;
    std::size_t next_unit_ = kNone;
    std::uint64_t words_[SlabBitmap::kWords] = {};
};

}  // namespace ouro::detail
