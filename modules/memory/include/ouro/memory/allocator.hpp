#pragma once

#include <ouro/memory/memory_resource.hpp>
#include <ouro/memory/no_allocation_scope.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace ouro {

// A resource passed by value: what collections and engine code hold. Copies are equal; the resource must live
// longer than all of them.
//
//     Allocator memory = pool;
//     auto player = memory.make<Player>("Ada");      // Expected<Player*>
//     if (!player) return player.status();
//     memory.destroy(*player);
//
// Asserts, in every build, when something is allocated within a NoAllocationScope of the calling thread.
class Allocator {
public:
    // Implicit, so that a resource can be given wherever an allocator is asked for.
    Allocator(MemoryResource& resource) noexcept
        : resource_(&resource) {}  // NOLINT(google-explicit-constructor)

    // As the functions of MemoryResource.
    [[nodiscard]] Expected<MemoryBlock> allocate(std::size_t size,
                                                 std::size_t alignment = kDefaultAlignment) const noexcept {
        check_allocation_allowed();
        return resource_->allocate(size, alignment);
    }
    void deallocate(MemoryBlock block, std::size_t alignment = kDefaultAlignment) const noexcept {
        resource_->deallocate(block, alignment);
    }
    [[nodiscard]] Expected<MemoryBlock> reallocate(MemoryBlock block, std::size_t new_size,
                                                   std::size_t alignment = kDefaultAlignment) const noexcept {
        check_allocation_allowed();
        return resource_->reallocate(block, new_size, alignment);
    }

    // Changes the size in place or not at all: see MemoryResource::try_resize. A block that can become
    // smaller may do so where nothing may be allocated.
    [[nodiscard]] Expected<MemoryBlock> try_reallocate(
        MemoryBlock block, std::size_t new_size, std::size_t alignment = kDefaultAlignment) const noexcept {
        if (new_size > block.size) check_allocation_allowed();
        return resource_->try_resize(block, new_size, alignment);
    }

    // An object made of the arguments, with the alignment of its type, or what allocate fails with. A
    // constructor that throws, in a program where that is possible, leaves nothing behind.
    template <class T, class... Args>
    [[nodiscard]] Expected<T*> make(Args&&... args) const
        noexcept(std::is_nothrow_constructible_v<T, Args...>);

    // Ends an object of make and frees its memory. Requires: the type that it was made as, no base of it,
    // whose size would be another. Null is ignored.
    template <class T>
    void destroy(T* object) const noexcept;

    // `count` objects, each value-initialised, in one block. Fails with zero_size, size_overflow and as
    // allocate. When a constructor throws, the objects before it are ended and nothing is left behind.
    template <class T>
    [[nodiscard]] Expected<std::span<T>> make_array(std::size_t count) const
        noexcept(std::is_nothrow_default_constructible_v<T>);

    // Ends the objects of a make_array, the last one first. Requires: all of them. An empty span is ignored.
    template <class T>
    void destroy_array(std::span<T> objects) const noexcept;

    // As the functions of MemoryResource. AllocatorScope uses them for you.
    [[nodiscard]] Expected<ResourceMark> place_mark() const noexcept { return resource_->place_mark(); }
    void free_since(ResourceMark mark) const noexcept { resource_->free_since(mark); }

    [[nodiscard]] ResourceInfo info() const noexcept { return resource_->info(); }
    [[nodiscard]] MemoryResource& resource() const noexcept { return *resource_; }

    // True when blocks of one may be returned to the other.
    friend bool operator==(Allocator one, Allocator other) noexcept {
        return one.resource_->is_equal(*other.resource_);
    }

private:
    template <class T>
    class Unfinished;

    MemoryResource* resource_;
};

// Frees at the end of a scope what was allocated in it, whatever the resource, as long as it has marks. No
// destructor runs: what lives in the scope's memory and needs one is to end before.
//
//     auto scope = AllocatorScope::open(memory);
//     if (!scope) return scope.status();             // not_supported: a pool has no marks
class AllocatorScope {
public:
    // Fails with not_supported where the resource has no marks.
    [[nodiscard]] static Expected<AllocatorScope> open(Allocator allocator) noexcept {
        const auto mark = allocator.place_mark();
        if (!mark) return mark.status();
        return AllocatorScope(allocator.resource(), *mark);
    }

    AllocatorScope(AllocatorScope&& other) noexcept
        : resource_(std::exchange(other.resource_, nullptr)), start_(other.start_) {}
    AllocatorScope& operator=(AllocatorScope&&) = delete;
    ~AllocatorScope() {
        if (resource_ != nullptr) resource_->free_since(start_);
    }

private:
    AllocatorScope(MemoryResource& resource, ResourceMark start) noexcept
        : resource_(&resource), start_(start) {}

    MemoryResource* resource_;
    ResourceMark start_;
};

// Memory with the first objects of an array in it: all of that goes back unless someone takes it over.
// Written as a destructor, because that works with and without exceptions.
template <class T>
class Allocator::Unfinished {
public:
    Unfinished(Allocator allocator, MemoryBlock block) noexcept : allocator_(allocator), block_(block) {}
    ~Unfinished() {
        if (block_.is_null()) return;
        std::destroy_n(first(), made_);
        allocator_.deallocate(block_, alignof(T));
    }
    Unfinished(const Unfinished&) = delete;
    Unfinished& operator=(const Unfinished&) = delete;

    template <class... Args>
    void make_next(Args&&... args) noexcept(std::is_nothrow_constructible_v<T, Args...>) {
        std::construct_at(first() + made_, std::forward<Args>(args)...);
        ++made_;
    }
    [[nodiscard]] T* finish() noexcept { return reinterpret_cast<T*>(std::exchange(block_, {}).data); }

private:
    [[nodiscard]] T* first() const noexcept { return reinterpret_cast<T*>(block_.data); }

    Allocator allocator_;
    MemoryBlock block_;
    std::size_t made_ = 0;
};

template <class T, class... Args>
Expected<T*> Allocator::make(Args&&... args) const noexcept(std::is_nothrow_constructible_v<T, Args...>) {
    static_assert(std::is_object_v<T> && !std::is_array_v<T>, "make_array makes arrays");
    const auto block = allocate(sizeof(T), alignof(T));
    if (!block) return block.status();
    Unfinished<T> object(*this, *block);
    object.make_next(std::forward<Args>(args)...);
    return object.finish();
}

template <class T>
void Allocator::destroy(T* object) const noexcept {
    static_assert(sizeof(T) != 0 && !std::is_array_v<T>, "destroy_array ends arrays");
    if (object == nullptr) return;
    std::destroy_at(object);
    deallocate({reinterpret_cast<std::byte*>(const_cast<std::remove_cv_t<T>*>(object)), sizeof(T)},
               alignof(T));
}

template <class T>
Expected<std::span<T>> Allocator::make_array(std::size_t count) const
    noexcept(std::is_nothrow_default_constructible_v<T>) {
    const auto bytes = checked_multiply(count, sizeof(T));
    if (!bytes) return bytes.status();
    auto block = allocate(*bytes, alignof(T));
    if (!block) return block.status();
    Unfinished<T> objects(*this, *block);
    for (std::size_t i = 0; i < count; ++i)
        objects.make_next();
    return std::span<T>(objects.finish(), count);
}

template <class T>
void Allocator::destroy_array(std::span<T> objects) const noexcept {
    if (objects.empty()) return;
    for (std::size_t i = objects.size(); i-- > 0;)
        std::destroy_at(objects.data() + i);
    deallocate({reinterpret_cast<std::byte*>(const_cast<std::remove_cv_t<T>*>(objects.data())),
                objects.size() * sizeof(T)},
               alignof(T));
}

}  // namespace ouro
