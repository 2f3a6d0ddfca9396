#pragma once

#include <ouro/memory/memory_resource.hpp>

#include <cstddef>

namespace ouro {

// A resource passed by value: what collections and engine code hold. Copies are equal; the resource must live
// longer than all of them.
class Allocator {
public:
    // Implicit, so that a resource can be given wherever an allocator is asked for.
    Allocator(MemoryResource& resource) noexcept
        : resource_(&resource) {}  // NOLINT(google-explicit-constructor)

    // As the functions of MemoryResource.
    [[nodiscard]] Expected<MemoryBlock> allocate(std::size_t size,
                                                 std::size_t alignment = kDefaultAlignment) const noexcept {
        return resource_->allocate(size, alignment);
    }
    void deallocate(MemoryBlock block, std::size_t alignment = kDefaultAlignment) const noexcept {
        resource_->deallocate(block, alignment);
    }
    [[nodiscard]] Expected<MemoryBlock> reallocate(MemoryBlock block, std::size_t new_size,
                                                   std::size_t alignment = kDefaultAlignment) const noexcept {
        return resource_->reallocate(block, new_size, alignment);
    }

    [[nodiscard]] MemoryResource& resource() const noexcept { return *resource_; }

    friend bool operator==(Allocator one, Allocator other) noexcept {
        return one.resource_->is_equal(*other.resource_);
    }

private:
    MemoryResource* resource_;
};

}  // namespace ouro
