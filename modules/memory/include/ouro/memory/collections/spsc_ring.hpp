#pragma once

#include <ouro/memory/allocator.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace ouro {

// A queue from exactly one thread to exactly one other, without locks or waiting: each call ends after a
// fixed number of steps, whatever the other thread does. Allocates once, at creation.
//
//     auto commands = SpscRing<Command>::create(allocator, 1024);
//     commands->push(command)         on the producer
//     commands->pop()                 on the consumer
//
// What happened before a push on the producer is visible after the pop of that element on the consumer.
// Creation, moving and destruction happen while neither thread uses it.
template <class T>
class SpscRing {
    static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_destructible_v<T>,
                  "elements are moved in and out, where nothing may fail");

public:
    // Fails with zero_size, size_overflow, or as the allocator does. Slots are rounded up to a power of two;
    // the capacity is as asked.
    [[nodiscard]] static Expected<SpscRing> create(Allocator allocator, std::size_t capacity) noexcept {
        if (capacity == 0) return Status::zero_size;
        if (capacity > kMaxCapacity) return Status::size_overflow;
        const auto block = allocator.allocate(std::bit_ceil(capacity) * sizeof(T), alignof(T));
        if (!block) return block.status();
        return SpscRing(allocator, reinterpret_cast<T*>(block->data), capacity);
    }

    SpscRing(SpscRing&& other) noexcept
        : allocator_(other.allocator_),
          slots_(std::exchange(other.slots_, nullptr)),
          capacity_(std::exchange(other.capacity_, 0)),
          mask_(other.mask_) {
        const std::size_t head = other.consumer_.head.exchange(0, std::memory_order_relaxed);
        const std::size_t tail = other.producer_.tail.exchange(0, std::memory_order_relaxed);
        other.consumer_.tail_seen = other.producer_.head_seen = 0;
        consumer_.head.store(head, std::memory_order_relaxed);
        producer_.tail.store(tail, std::memory_order_relaxed);
        consumer_.tail_seen = tail;
        producer_.head_seen = head;
    }
    SpscRing& operator=(SpscRing&& other) noexcept {
        if (this != &other) {
            std::destroy_at(this);
            std::construct_at(this, std::move(other));
        }
        return *this;
    }
    ~SpscRing() {
        if (slots_ == nullptr) return;
        const std::size_t tail = producer_.tail.load(std::memory_order_relaxed);
        for (std::size_t i = consumer_.head.load(std::memory_order_relaxed); i != tail; ++i)
            std::destroy_at(slots_ + (i & mask_));
        allocator_.deallocate({reinterpret_cast<std::byte*>(slots_), (mask_ + 1) * sizeof(T)}, alignof(T));
    }

    // Producer. ok, or capacity_exhausted without touching the arguments.
    template <class... Args>
    [[nodiscard]] Status emplace(Args&&... args) noexcept {
        const std::size_t tail = producer_.tail.load(std::memory_order_relaxed);
        if (tail - producer_.head_seen >= capacity_) {
            producer_.head_seen = consumer_.head.load(std::memory_order_acquire);
            if (tail - producer_.head_seen >= capacity_) return Status::capacity_exhausted;
        }
        std::construct_at(slots_ + (tail & mask_), std::forward<Args>(args)...);
        producer_.tail.store(tail + 1, std::memory_order_release);
        return Status::ok;
    }
    [[nodiscard]] Status push(const T& value) noexcept { return emplace(value); }
    [[nodiscard]] Status push(T&& value) noexcept { return emplace(std::move(value)); }

    // Producer. As many of the values as there is room for, from the first on; returns how many.
    [[nodiscard]] std::size_t push_some(std::span<const T> values) noexcept
        requires std::is_trivially_copyable_v<T>
    {
        const std::size_t tail = producer_.tail.load(std::memory_order_relaxed);
        if (capacity_ - (tail - producer_.head_seen) < values.size())
            producer_.head_seen = consumer_.head.load(std::memory_order_acquire);
        const std::size_t count = std::min(values.size(), capacity_ - (tail - producer_.head_seen));
        if (count == 0) return 0;
        const std::size_t first = std::min(count, mask_ + 1 - (tail & mask_));
        std::memcpy(slots_ + (tail & mask_), values.data(), first * sizeof(T));
        std::memcpy(slots_, values.data() + first, (count - first) * sizeof(T));
        producer_.tail.store(tail + count, std::memory_order_release);
        return count;
    }

    // Consumer. The oldest element, moved out; not_found when there is none yet.
    [[nodiscard]] Expected<T> pop() noexcept {
        const std::size_t head = consumer_.head.load(std::memory_order_relaxed);
        if (!has_element(head)) return Status::not_found;
        T* const slot = slots_ + (head & mask_);
        Expected<T> value(std::move(*slot));
        std::destroy_at(slot);
        consumer_.head.store(head + 1, std::memory_order_release);
        return value;
    }

    // Consumer. As many of the oldest as there are and fit; returns how many.
    [[nodiscard]] std::size_t pop_some(std::span<T> values) noexcept
        requires std::is_trivially_copyable_v<T>
    {
        const std::size_t head = consumer_.head.load(std::memory_order_relaxed);
        if (consumer_.tail_seen - head < values.size())
            consumer_.tail_seen = producer_.tail.load(std::memory_order_acquire);
        const std::size_t count = std::min(values.size(), consumer_.tail_seen - head);
        if (count == 0) return 0;
        const std::size_t first = std::min(count, mask_ + 1 - (head & mask_));
        std::memcpy(values.data(), slots_ + (head & mask_), first * sizeof(T));
        std::memcpy(values.data() + first, slots_, (count - first) * sizeof(T));
        consumer_.head.store(head + count, std::memory_order_release);
        return count;
    }

    // Consumer. The oldest element in place, or null; valid until it is popped.
    [[nodiscard]] T* peek() noexcept {
        const std::size_t head = consumer_.head.load(std::memory_order_relaxed);
        return has_element(head) ? slots_ + (head & mask_) : nullptr;
    }

    // From any thread; an estimate while either side works, exact when both rest.
    [[nodiscard]] std::size_t size() const noexcept {
        const std::size_t head = consumer_.head.load(std::memory_order_acquire);
        const std::size_t count = producer_.tail.load(std::memory_order_acquire) - head;
        return std::min(count, capacity_);
    }
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }
    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
    [[nodiscard]] Allocator allocator() const noexcept { return allocator_; }

private:
    // Two lines: processors fetch them in pairs.
    static constexpr std::size_t kApart = 128;
    static constexpr std::size_t kMaxCapacity =
        std::bit_floor(static_cast<std::size_t>(PTRDIFF_MAX) / sizeof(T));

    // Each side keeps what it last saw of the other, and looks again only when that is not enough: most calls
    // touch no line that the other thread writes.
    struct alignas(kApart) Producer {
        std::atomic<std::size_t> tail{0};
        std::size_t head_seen = 0;
    };
    struct alignas(kApart) Consumer {
        std::atomic<std::size_t> head{0};
        std::size_t tail_seen = 0;
    };

    SpscRing(Allocator allocator, T* slots, std::size_t capacity) noexcept
        : allocator_(allocator), slots_(slots), capacity_(capacity), mask_(std::bit_ceil(capacity) - 1) {}

    [[nodiscard]] bool has_element(std::size_t head) noexcept {
        if (head != consumer_.tail_seen) return true;
        consumer_.tail_seen = producer_.tail.load(std::memory_order_acquire);
        return head != consumer_.tail_seen;
    }

    Allocator allocator_;
    T* slots_;
    std::size_t capacity_;
    std::size_t mask_;
    Producer producer_;
    Consumer consumer_;
};

}  // namespace ouro
