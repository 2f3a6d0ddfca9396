#pragma once

#include <ouro/memory/memory_resource.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace ouro::bench {

// Bytes asked of malloc and not returned, and the most there were: the memory columns.
struct MemoryCount {
    std::size_t live_bytes = 0;
    std::size_t peak_bytes = 0;

    void add(std::size_t bytes) noexcept {
        live_bytes += bytes;
        peak_bytes = std::max(peak_bytes, live_bytes);
    }
    void remove(std::size_t bytes) noexcept { live_bytes -= bytes; }
    void forget_peak() noexcept { peak_bytes = live_bytes; }
};

// What our collections stand on here.
class CountedResource final : public MemoryResource {
public:
    [[nodiscard]] Expected<MemoryBlock> allocate(std::size_t size, std::size_t alignment) noexcept override {
        void* const data = alignment <= alignof(std::max_align_t)
                               ? std::malloc(size)
                               : std::aligned_alloc(alignment, align_up(size, alignment));
        if (data == nullptr) return Status::out_of_memory;
        count_.add(size);
        return MemoryBlock{static_cast<std::byte*>(data), size};
    }
    void deallocate(MemoryBlock block, std::size_t /*alignment*/) noexcept override {
        count_.remove(block.size);
        std::free(block.data);
    }
    [[nodiscard]] Expected<MemoryBlock> reallocate(MemoryBlock block, std::size_t new_size,
                                                   std::size_t alignment) noexcept override {
        if (alignment > alignof(std::max_align_t))
            return move_to_new_block(*this, block, new_size, alignment);
        void* const data = std::realloc(block.data, new_size);
        if (data == nullptr) return Status::out_of_memory;
        count_.remove(block.size);
        count_.add(new_size);
        return MemoryBlock{static_cast<std::byte*>(data), new_size};
    }
    [[nodiscard]] bool owns(const void* /*address*/) const noexcept override { return true; }
    [[nodiscard]] ResourceInfo info() const noexcept override { return {.name = "malloc"}; }
    [[nodiscard]] ResourceStats stats() const noexcept override { return {}; }
    [[nodiscard]] Status check() const noexcept override { return Status::ok; }

    [[nodiscard]] MemoryCount& count() noexcept { return count_; }

private:
    MemoryCount count_;
};

// What those of the standard library stand on.
template <class T>
class CountedAllocator {
public:
    using value_type = T;

    explicit CountedAllocator(MemoryCount& count) noexcept : count_(&count) {}
    template <class U>
    CountedAllocator(const CountedAllocator<U>& other) noexcept : count_(other.count()) {}

    [[nodiscard]] T* allocate(std::size_t count) {
        void* const data = std::malloc(count * sizeof(T));
        if (data == nullptr) throw std::bad_alloc();
        count_->add(count * sizeof(T));
        return static_cast<T*>(data);
    }
    void deallocate(T* data, std::size_t count) noexcept {
        count_->remove(count * sizeof(T));
        std::free(data);
    }
    [[nodiscard]] MemoryCount* count() const noexcept { return count_; }
    template <class U>
    [[nodiscard]] bool operator==(const CountedAllocator<U>& other) const noexcept {
        return count_ == other.count();
    }

private:
    MemoryCount* count_;
};

}  // namespace ouro::bench
