#pragma once

#include <ouro/memory/frame_allocator.hpp>
#include <ouro/memory/tlsf_heap.hpp>

#include <cstddef>
#include <cstring>

namespace ouro::testing_support {

// Zeroed memory at a multiple of the largest alignment that the tests ask for.
class TlsfImage {
public:
    static constexpr std::size_t kAlignment = 65536;

    explicit TlsfImage(std::size_t bytes)
        : frame_(*FrameAllocator::create({.max_bytes = bytes + kAlignment})),
          memory_(*frame_.allocate(bytes, kAlignment)) {}

    [[nodiscard]] MemoryBlock memory() const { return memory_; }
    [[nodiscard]] TlsfHeap& make_heap() const { return **TlsfHeap::create_in(memory_); }

    // The same bytes at another address.
    void copy_from(const TlsfImage& other) const {
        std::memcpy(memory_.data, other.memory_.data, memory_.size);
    }

private:
    FrameAllocator frame_;
    MemoryBlock memory_;
};

}  // namespace ouro::testing_support
