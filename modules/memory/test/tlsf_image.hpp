#pragma once

#include <ouro/memory/frame_allocator.hpp>
#include <ouro/memory/tlsf_heap.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace ouro::testing_support {

// The words of an image as they lie there.
inline std::uint32_t read_word(MemoryBlock memory, std::size_t offset) {
    std::uint32_t value = 0;
    std::memcpy(&value, memory.data + offset, sizeof(value));
    return value;
}

inline void write_word(MemoryBlock memory, std::size_t offset, std::uint32_t value) {
    std::memcpy(memory.data + offset, &value, sizeof(value));
}

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
