#pragma once

#include <ouro/memory/allocator.hpp>
#include <ouro/memory/detail/standard_failure.hpp>

#include <cstddef>
#include <type_traits>

namespace ouro {
inline namespace OURO_EXCEPTIONS_NAMESPACE {

// An Allocator for the containers of the standard library.
//
//     std::vector<int, StlAllocator<int>> numbers(memory);
//
// Failures are std::bad_alloc, which is how those containers want to hear of them; in a program without
// exceptions they assert.
//
// A container that is moved or swapped takes its memory along, and with it the resource it came from, so that
// moving never allocates. One that is assigned by copying keeps its own resource; one that is made as a copy
// has that of the original.
template <class T>
class StlAllocator {
public:
    using value_type = T;
    using propagate_on_container_copy_assignment = std::false_type;
    using propagate_on_container_move_assignment = std::true_type;
    using propagate_on_container_swap = std::true_type;
    using is_always_equal = std::false_type;

    // Implicit, as is every Allocator: containers take their allocator where a resource is at hand.
    StlAllocator(Allocator allocator) noexcept
        : allocator_(allocator) {}  // NOLINT(google-explicit-constructor)
    StlAllocator(MemoryResource& resource) noexcept
        : allocator_(resource) {}  // NOLINT(google-explicit-constructor)
    template <class U>
    StlAllocator(const StlAllocator<U>& other) noexcept
        : allocator_(other.allocator()) {}  // NOLINT(google-explicit-constructor)

    [[nodiscard]] T* allocate(std::size_t count) {
        const auto bytes = checked_multiply(count, sizeof(T));
        if (!bytes) detail::fail_standard_allocation();
        return static_cast<T*>(detail::address_or_failure(allocator_.allocate(*bytes, alignof(T))));
    }
    void deallocate(T* objects, std::size_t count) noexcept {
        allocator_.deallocate({reinterpret_cast<std::byte*>(objects), count * sizeof(T)}, alignof(T));
    }

    [[nodiscard]] Allocator allocator() const noexcept { return allocator_; }

    template <class U>
    friend bool operator==(const StlAllocator& one, const StlAllocator<U>& other) noexcept {
        return one.allocator() == other.allocator();
    }

private:
    Allocator allocator_;
};

}  // namespace OURO_EXCEPTIONS_NAMESPACE
}  // namespace ouro
