#pragma once

#include <ouro/memory/allocator.hpp>

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

namespace ouro {

// An object that ends and goes back to its resource by itself: what std::unique_ptr is to new, for an
// Allocator. Two pointers large; movable, not copyable; empty after it was moved from.
//
//     auto player = make_owned<Player>(memory, "Ada");   // Expected<Owned<Player>>
//     if (!player) return player.status();
//     (*player)->greet();
template <class T>
class Owned {
public:
    constexpr Owned() noexcept = default;
    // Takes over an object that was made there, as this type.
    Owned(Allocator allocator, T* object) noexcept : resource_(&allocator.resource()), object_(object) {}
    Owned(Owned&& other) noexcept : resource_(other.resource_), object_(other.release()) {}
    Owned& operator=(Owned&& other) noexcept {
        if (this != &other) {
            reset();
            resource_ = other.resource_;
            object_ = other.release();
        }
        return *this;
    }
    ~Owned() { reset(); }

    void reset() noexcept {
        if (object_ != nullptr) Allocator(*resource_).destroy(release());
    }
    // Leaves the object to the caller, who ends it with Allocator::destroy.
    [[nodiscard]] T* release() noexcept { return std::exchange(object_, nullptr); }

    explicit operator bool() const noexcept { return object_ != nullptr; }
    [[nodiscard]] T* get() const noexcept { return object_; }
    [[nodiscard]] T& operator*() const noexcept {
        OURO_DEBUG_ASSERT(object_ != nullptr, "an empty owner has no object");
        return *object_;
    }
    [[nodiscard]] T* operator->() const noexcept { return &**this; }

private:
    MemoryResource* resource_ = nullptr;
    T* object_ = nullptr;
};

// The same for the objects of an array.
template <class T>
class OwnedArray {
public:
    constexpr OwnedArray() noexcept = default;
    // Takes over all objects of an array that was made there.
    OwnedArray(Allocator allocator, std::span<T> objects) noexcept
        : resource_(&allocator.resource()), objects_(objects) {}
    OwnedArray(OwnedArray&& other) noexcept : resource_(other.resource_), objects_(other.release()) {}
    OwnedArray& operator=(OwnedArray&& other) noexcept {
        if (this != &other) {
            reset();
            resource_ = other.resource_;
            objects_ = other.release();
        }
        return *this;
    }
    ~OwnedArray() { reset(); }

    void reset() noexcept {
        if (!objects_.empty()) Allocator(*resource_).destroy_array(release());
    }
    // Leaves the objects to the caller, who ends them with Allocator::destroy_array.
    [[nodiscard]] std::span<T> release() noexcept { return std::exchange(objects_, {}); }

    explicit operator bool() const noexcept { return !objects_.empty(); }
    [[nodiscard]] std::span<T> get() const noexcept { return objects_; }
    [[nodiscard]] std::size_t size() const noexcept { return objects_.size(); }
    [[nodiscard]] T* begin() const noexcept { return objects_.data(); }
    [[nodiscard]] T* end() const noexcept { return objects_.data() + objects_.size(); }
    // Requires: index < size().
    [[nodiscard]] T& operator[](std::size_t index) const noexcept {
        OURO_DEBUG_ASSERT(index < objects_.size(), "the index lies behind the array");
        return objects_[index];
    }

private:
    MemoryResource* resource_ = nullptr;
    std::span<T> objects_;
};

// As Allocator::make.
template <class T, class... Args>
[[nodiscard]] Expected<Owned<T>> make_owned(Allocator allocator, Args&&... args) noexcept(
    std::is_nothrow_constructible_v<T, Args...>) {
    const auto object = allocator.make<T>(std::forward<Args>(args)...);
    if (!object) return object.status();
    return Owned<T>(allocator, *object);
}

// As Allocator::make_array.
template <class T>
[[nodiscard]] Expected<OwnedArray<T>> make_owned_array(Allocator allocator, std::size_t count) noexcept(
    std::is_nothrow_default_constructible_v<T>) {
    const auto objects = allocator.make_array<T>(count);
    if (!objects) return objects.status();
    return OwnedArray<T>(allocator, *objects);
}

}  // namespace ouro
