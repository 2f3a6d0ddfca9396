#pragma once

#include <ouro/memory/allocator.hpp>
#include <ouro/memory/collections/ring_iterator.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace ouro {

// A queue open at both ends with a capacity fixed at creation: it allocates once, and never again. A full one
// refuses, or overwrites the oldest where asked to, which suits histories and logs.
//
//     auto history = RingBuffer<Sample>::create(allocator, 600);
//     history->push_back_overwriting(sample);
//     for (const Sample& each : *history) ...       // oldest first
//
// Elements do not move while they are in it.
template <class T>
class RingBuffer {
    static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_destructible_v<T>,
                  "elements are moved in and out, where nothing may fail");

public:
    using value_type = T;
    using size_type = std::size_t;
    using difference_type = std::ptrdiff_t;
    using reference = T&;
    using const_reference = const T&;
    using iterator = RingIterator<T>;
    using const_iterator = RingIterator<const T>;

    // The elements as they lie in memory: the first part, then the rest where the ring wraps around.
    template <class U>
    struct Parts {
        std::span<U> first;
        std::span<U> second;
    };

    // Fails with zero_size, size_overflow, or as the allocator does.
    [[nodiscard]] static Expected<RingBuffer> create(Allocator allocator, std::size_t capacity) noexcept {
        if (capacity > static_cast<std::size_t>(PTRDIFF_MAX) / sizeof(T)) return Status::size_overflow;
        const auto block = allocator.allocate(capacity * sizeof(T), alignof(T));
        if (!block) return block.status();
        return RingBuffer(allocator, reinterpret_cast<T*>(block->data), capacity);
    }

    // The other has no capacity afterwards.
    RingBuffer(RingBuffer&& other) noexcept
        : allocator_(other.allocator_),
          slots_(std::exchange(other.slots_, nullptr)),
          capacity_(std::exchange(other.capacity_, 0)),
          head_(std::exchange(other.head_, 0)),
          size_(std::exchange(other.size_, 0)) {}
    RingBuffer& operator=(RingBuffer&& other) noexcept {
        if (this != &other) {
            std::destroy_at(this);
            std::construct_at(this, std::move(other));
        }
        return *this;
    }
    ~RingBuffer() {
        clear();
        if (slots_ != nullptr)
            allocator_.deallocate({reinterpret_cast<std::byte*>(slots_), capacity_ * sizeof(T)}, alignof(T));
    }

    // Fails with capacity_exhausted when full, without touching the arguments.
    template <class... Args>
    [[nodiscard]] Expected<T*> emplace_back(Args&&... args) noexcept {
        if (full()) return Status::capacity_exhausted;
        T* const made = std::construct_at(slots_ + slot(size_), std::forward<Args>(args)...);
        ++size_;
        return made;
    }
    template <class... Args>
    [[nodiscard]] Expected<T*> emplace_front(Args&&... args) noexcept {
        if (full()) return Status::capacity_exhausted;
        const std::size_t before = head_ == 0 ? capacity_ - 1 : head_ - 1;
        T* const made = std::construct_at(slots_ + before, std::forward<Args>(args)...);
        head_ = before;
        ++size_;
        return made;
    }
    [[nodiscard]] Expected<T*> push_back(const T& value) noexcept { return emplace_back(value); }
    [[nodiscard]] Expected<T*> push_back(T&& value) noexcept { return emplace_back(std::move(value)); }
    [[nodiscard]] Expected<T*> push_front(const T& value) noexcept { return emplace_front(value); }
    [[nodiscard]] Expected<T*> push_front(T&& value) noexcept { return emplace_front(std::move(value)); }

    // When full, the element at the other end goes. By value, since the argument may be that element.
    // Requires: a capacity (debug assert).
    T& push_back_overwriting(T value) noexcept {
        if (full()) drop_front(1);
        return **emplace_back(std::move(value));
    }
    T& push_front_overwriting(T value) noexcept {
        if (full()) drop_back(1);
        return **emplace_front(std::move(value));
    }

    // The element itself, moved out; not_found when empty.
    [[nodiscard]] Expected<T> pop_front() noexcept {
        if (size_ == 0) return Status::not_found;
        Expected<T> value(std::move(front()));
        drop_front(1);
        return value;
    }
    [[nodiscard]] Expected<T> pop_back() noexcept {
        if (size_ == 0) return Status::not_found;
        Expected<T> value(std::move(back()));
        drop_back(1);
        return value;
    }

    // Destroys so many elements at an end, or all when there are fewer; returns how many.
    std::size_t drop_front(std::size_t count) noexcept {
        count = std::min(count, size_);
        destroy_range(0, count);
        head_ = slot(count);
        size_ -= count;
        return count;
    }
    std::size_t drop_back(std::size_t count) noexcept {
        count = std::min(count, size_);
        destroy_range(size_ - count, size_);
        size_ -= count;
        return count;
    }
    void clear() noexcept {
        destroy_range(0, size_);
        head_ = 0;
        size_ = 0;
    }

    // From the oldest. Requires: index < size() (debug assert).
    [[nodiscard]] T& operator[](std::size_t index) noexcept {
        OURO_DEBUG_ASSERT(index < size_, "there is no such element");
        return slots_[slot(index)];
    }
    [[nodiscard]] const T& operator[](std::size_t index) const noexcept {
        OURO_DEBUG_ASSERT(index < size_, "there is no such element");
        return slots_[slot(index)];
    }
    [[nodiscard]] T& front() noexcept { return (*this)[0]; }
    [[nodiscard]] const T& front() const noexcept { return (*this)[0]; }
    [[nodiscard]] T& back() noexcept { return (*this)[size_ - 1]; }
    [[nodiscard]] const T& back() const noexcept { return (*this)[size_ - 1]; }

    // For bulk work without a test for the wrap at each element.
    [[nodiscard]] Parts<T> parts() noexcept {
        return {{slots_ + head_, first_part()}, {slots_, size_ - first_part()}};
    }
    [[nodiscard]] Parts<const T> parts() const noexcept {
        return {{slots_ + head_, first_part()}, {slots_, size_ - first_part()}};
    }

    [[nodiscard]] iterator begin() noexcept { return {slots_, capacity_, head_, 0}; }
    [[nodiscard]] iterator end() noexcept { return begin() + static_cast<std::ptrdiff_t>(size_); }
    [[nodiscard]] const_iterator begin() const noexcept { return {slots_, capacity_, head_, 0}; }
    [[nodiscard]] const_iterator end() const noexcept { return begin() + static_cast<std::ptrdiff_t>(size_); }

    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] bool full() const noexcept { return size_ == capacity_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
    [[nodiscard]] Allocator allocator() const noexcept { return allocator_; }

private:
    RingBuffer(Allocator allocator, T* slots, std::size_t capacity) noexcept
        : allocator_(allocator), slots_(slots), capacity_(capacity) {}

    // Compared rather than divided or masked: any capacity is exact, and none costs a division. Requires:
    // index <= capacity.
    [[nodiscard]] std::size_t slot(std::size_t index) const noexcept {
        const std::size_t sum = head_ + index;
        return sum >= capacity_ ? sum - capacity_ : sum;
    }
    [[nodiscard]] std::size_t first_part() const noexcept { return std::min(size_, capacity_ - head_); }

    void destroy_range(std::size_t from, std::size_t to) noexcept {
        if constexpr (!std::is_trivially_destructible_v<T>) {
            for (std::size_t index = from; index < to; ++index)
                std::destroy_at(slots_ + slot(index));
        }
    }

    Allocator allocator_;
    T* slots_;
    std::size_t capacity_;
    std::size_t head_ = 0;
    std::size_t size_ = 0;
};

}  // namespace ouro
