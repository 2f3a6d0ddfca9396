#pragma once

#include "harness/case.hpp"
#include "harness/must.hpp"

#include <ouro/memory/small_object_allocator.hpp>

#include <cstddef>
#include <memory>
#include <utility>

namespace ouro::bench {

// Our general-purpose heap by its own type: nothing virtual, nothing behind a pointer, and the size comes
// back with the object. Shared by the copies.
class OurHeap {
public:
    OurHeap()
        : owner_(std::make_shared<SmallObjectAllocator>(
              must(SmallObjectAllocator::create({.name = "benchmark"}), "make a heap"))),
          heap_(owner_.get()) {}

    [[nodiscard]] void* allocate(std::size_t size) const noexcept {
        const auto block = heap_->allocate(size, kDefaultAlignment);
        return block ? block->data : nullptr;
    }
    void free(void* object, std::size_t size) const noexcept {
        heap_->deallocate({static_cast<std::byte*>(object), size}, kDefaultAlignment);
    }
    void begin_thread() const noexcept {}

private:
    std::shared_ptr<SmallObjectAllocator> owner_;
    SmallObjectAllocator* heap_;
};

}  // namespace ouro::bench
