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
        if (capacity == 0) return Status::zero_size;
        if (capacity >= static_cast<std::size_t>(PTRDIFF_MAX) / sizeof(T)) return Status::size_overflow;
        const auto block = allocator.allocate((capacity + 1) * sizeof(T), alignof(T));
        if (!block) return block.status();
        return RingBuffer(allocator, reinterpret_cast<T*>(block->data), capacity + 1);
    }

    // The other has no capacity afterwards.
    RingBuffer(RingBuffer&& other) noexcept
        : allocator_(other.allocator_),
          slots_(std::exchange(other.slots_, no_slot())),
          limit_(std::exchange(other.limit_, no_slot() + 1)),
          head_(std::exchange(other.head_, no_slot())),
          tail_(std::exchange(other.tail_, no_slot())) {}
    RingBuffer& operator=(RingBuffer&& other) noexcept {
        if (this != &other) {
            std::destroy_at(this);
            std::construct_at(this, std::move(other));
        }
        return *this;
    }
    ~RingBuffer() {
        clear();
        if (slots_ != no_slot())
            allocator_.deallocate({reinterpret_cast<std::byte*>(slots_), bytes()}, alignof(T));
    }

    // Fails with capacity_exhausted when full, without touching the arguments.
    template <class... Args>
    [[nodiscard]] Expected<T*> emplace_back(Args&&... args) noexcept {
        T* const next = after(tail_);
        if (next == head_) return Status::capacity_exhausted;
        T* const made = std::construct_at(tail_, std::forward<Args>(args)...);
        tail_ = next;
        return made;
    }
    template <class... Args>
    [[nodiscard]] Expected<T*> emplace_front(Args&&... args) noexcept {
        T* const place = before(head_);
        if (place == tail_) return Status::capacity_exhausted;
        std::construct_at(place, std::forward<Args>(args)...);
        head_ = place;
        return place;
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
        if (empty()) return Status::not_found;
        Expected<T> value(std::move(*head_));
        std::destroy_at(head_);
        head_ = after(head_);
        return value;
    }
    [[nodiscard]] Expected<T> pop_back() noexcept {
        if (empty()) return Status::not_found;
        tail_ = before(tail_);
        Expected<T> value(std::move(*tail_));
        std::destroy_at(tail_);
        return value;
    }

    // Destroys so many elements at an end, or all when there are fewer; returns how many.
    std::size_t drop_front(std::size_t count) noexcept {
        count = std::min(count, size());
        destroy_range(0, count);
        head_ = slot(count);
        return count;
    }
    std::size_t drop_back(std::size_t count) noexcept {
        const std::size_t old_size = size();
        count = std::min(count, old_size);
        destroy_range(old_size - count, old_size);
        tail_ = slot(old_size - count);
        return count;
    }
    void clear() noexcept {
        destroy_range(0, size());
        head_ = tail_ = slots_;
    }

    // From the oldest. Requires: index < size() (debug assert).
    [[nodiscard]] T& operator[](std::size_t index) noexcept {
        OURO_DEBUG_ASSERT(index < size(), "there is no such element");
        return *slot(index);
    }
    [[nodiscard]] const T& operator[](std::size_t index) const noexcept {
        OURO_DEBUG_ASSERT(index < size(), "there is no such element");
        return *slot(index);
    }
    [[nodiscard]] T& front() noexcept { return (*this)[0]; }
    [[nodiscard]] const T& front() const noexcept { return (*this)[0]; }
    [[nodiscard]] T& back() noexcept { return (*this)[size() - 1]; }
    [[nodiscard]] const T& back() const noexcept { return (*this)[size() - 1]; }

    // For bulk work without a test for the wrap at each element.
    [[nodiscard]] Parts<T> parts() noexcept {
        if (head_ <= tail_) return {{head_, tail_}, {}};
        return {{head_, limit_}, {slots_, tail_}};
    }
    [[nodiscard]] Parts<const T> parts() const noexcept {
        if (head_ <= tail_) return {{head_, tail_}, {}};
        return {{head_, limit_}, {slots_, tail_}};
    }

    [[nodiscard]] iterator begin() noexcept { return {slots_, limit_, head_, head_}; }
    [[nodiscard]] iterator end() noexcept { return {slots_, limit_, head_, tail_}; }
    [[nodiscard]] const_iterator begin() const noexcept { return {slots_, limit_, head_, head_}; }
    [[nodiscard]] const_iterator end() const noexcept { return {slots_, limit_, head_, tail_}; }

    [[nodiscard]] bool empty() const noexcept { return head_ == tail_; }
    [[nodiscard]] bool full() const noexcept { return after(tail_) == head_; }
    [[nodiscard]] std::size_t size() const noexcept {
        const std::ptrdiff_t distance = tail_ - head_;
        return static_cast<std::size_t>(distance < 0 ? distance + (limit_ - slots_) : distance);
    }
    [[nodiscard]] std::size_t capacity() const noexcept {
        return static_cast<std::size_t>(limit_ - slots_) - 1;
    }
    [[nodiscard]] Allocator allocator() const noexcept { return allocator_; }

private:
    RingBuffer(Allocator allocator, T* slots, std::size_t slot_count) noexcept
        : allocator_(allocator), slots_(slots), limit_(slots + slot_count), head_(slots), tail_(slots) {}

    [[nodiscard]] std::size_t bytes() const noexcept {
        return static_cast<std::size_t>(limit_ - slots_) * sizeof(T);
    }
    [[nodiscard]] T* after(T* place) const noexcept { return place + 1 == limit_ ? slots_ : place + 1; }
    [[nodiscard]] T* before(T* place) const noexcept { return (place == slots_ ? limit_ : place) - 1; }
    // Compared rather than divided or masked: any capacity is exact, and none costs a division. Requires:
    // index <= capacity.
    [[nodiscard]] T* slot(std::size_t index) const noexcept {
        const auto to_limit = static_cast<std::size_t>(limit_ - head_);
        return index >= to_limit ? slots_ + (index - to_limit) : head_ + index;
    }
    // What a ring that was moved from points to: a ring of capacity zero, empty and full, without a special
    // case anywhere.
    [[nodiscard]] static T* no_slot() noexcept { return reinterpret_cast<T*>(no_slot_bytes_); }
    alignas(T) static inline std::byte no_slot_bytes_[sizeof(T)];

    void destroy_range(std::size_t from, std::size_t to) noexcept {
        if constexpr (!std::is_trivially_destructible_v<T>) {
            for (std::size_t index = from; index < to; ++index)
                std::destroy_at(slot(index));
        }
    }

    Allocator allocator_;
    // One slot more than the capacity: so head and tail alone tell an empty ring from a full one, and as
    // pointers they cannot be confused with elements, which lets the compiler keep them in registers.
    T* slots_;
    T* limit_;
    T* head_;
    T* tail_;
};

}  // namespace ouro
