#pragma once

#include "memory/malloc_peers.hpp"

#include <cstddef>
#include <memory>
#include <memory_resource>
#include <utility>
#include <vector>

// The candidates in one shape: values with
//     void* allocate(std::size_t size)
//     void free(void* object, std::size_t size)
//     void begin_thread(), called on each thread before its first use
// The work is a template over them, so that what can be inlined is, and what is a pointer stays one.
namespace ouro::bench {

// Whoever offers malloc and free is called through pointers, as a program calls a shared library.
class MallocHeap {
public:
    explicit MallocHeap(const MallocPeer& peer) noexcept
        : allocate_(peer.allocate), free_(peer.free), begin_thread_(peer.begin_thread) {}

    [[nodiscard]] void* allocate(std::size_t size) const noexcept { return allocate_(size); }
    void free(void* object, std::size_t /*size*/) const noexcept { free_(object); }
    void begin_thread() const noexcept {
        if (begin_thread_ != nullptr) begin_thread_();
    }

private:
    void* (*allocate_)(std::size_t);
    void (*free_)(void*);
    void (*begin_thread_)();
};

// A resource of the standard library, shared by the copies.
class PmrHeap {
public:
    explicit PmrHeap(std::shared_ptr<std::pmr::memory_resource> resource) noexcept
        : owner_(std::move(resource)), resource_(owner_.get()) {}

    [[nodiscard]] void* allocate(std::size_t size) const { return resource_->allocate(size); }
    void free(void* object, std::size_t size) const { resource_->deallocate(object, size); }
    void begin_thread() const noexcept {}

private:
    std::shared_ptr<std::pmr::memory_resource> owner_;
    std::pmr::memory_resource* resource_;
};

// The least that any allocator of one size must do: take a pointer from a pile and put it back.
class PileHeap {
public:
    PileHeap(std::size_t size, std::size_t count) : pile_(std::make_shared<Pile>()) {
        pile_->storage.resize(size * count);
        for (std::size_t i = 0; i < count; ++i)
            pile_->objects.push_back(pile_->storage.data() + i * size);
        pile_->top = pile_->objects.data() + count;
    }

    [[nodiscard]] void* allocate(std::size_t /*size*/) const noexcept { return *--pile_->top; }
    void free(void* object, std::size_t /*size*/) const noexcept { *pile_->top++ = object; }
    void begin_thread() const noexcept {}

private:
    struct Pile {
        std::vector<std::byte> storage;
        std::vector<void*> objects;
        void** top = nullptr;
    };

    std::shared_ptr<Pile> pile_;
};

// For containers of the standard library.
template <class T, class Heap>
class HeapAllocator {
public:
    using value_type = T;

    explicit HeapAllocator(const Heap& heap) noexcept : heap_(&heap) {}
    template <class Other>
    HeapAllocator(const HeapAllocator<Other, Heap>& other) noexcept : heap_(other.heap()) {}

    [[nodiscard]] T* allocate(std::size_t count) {
        return static_cast<T*>(heap_->allocate(count * sizeof(T)));
    }
    void deallocate(T* objects, std::size_t count) { heap_->free(objects, count * sizeof(T)); }

    [[nodiscard]] const Heap* heap() const noexcept { return heap_; }

    friend bool operator==(const HeapAllocator& one, const HeapAllocator& other) noexcept {
        return one.heap_ == other.heap_;
    }

private:
    const Heap* heap_;
};

}  // namespace ouro::bench
