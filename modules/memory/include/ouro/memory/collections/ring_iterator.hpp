#pragma once

#include <compare>
#include <cstddef>
#include <iterator>
#include <type_traits>

namespace ouro {

// Walks a ring from its oldest element. Random access; valid until something is removed at the front.
template <class T>
class RingIterator {
public:
    using value_type = std::remove_cv_t<T>;
    using difference_type = std::ptrdiff_t;
    using reference = T&;
    using pointer = T*;
    using iterator_category = std::random_access_iterator_tag;

    constexpr RingIterator() noexcept = default;
    constexpr RingIterator(T* slots, std::size_t capacity, std::size_t head, std::ptrdiff_t index) noexcept
        : slots_(slots), capacity_(capacity), head_(head), index_(index) {}
    constexpr operator RingIterator<const T>() const noexcept
        requires(!std::is_const_v<T>)
    {
        return {slots_, capacity_, head_, index_};
    }

    [[nodiscard]] constexpr T& operator*() const noexcept {
        const std::size_t sum = head_ + static_cast<std::size_t>(index_);
        return slots_[sum >= capacity_ ? sum - capacity_ : sum];
    }
    [[nodiscard]] constexpr T* operator->() const noexcept { return &**this; }
    [[nodiscard]] constexpr T& operator[](std::ptrdiff_t offset) const noexcept { return *(*this + offset); }

    constexpr RingIterator& operator++() noexcept { return *this += 1; }
    constexpr RingIterator& operator--() noexcept { return *this += -1; }
    constexpr RingIterator operator++(int) noexcept {
        const RingIterator before = *this;
        ++*this;
        return before;
    }
    constexpr RingIterator operator--(int) noexcept {
        const RingIterator before = *this;
        --*this;
        return before;
    }
    constexpr RingIterator& operator+=(std::ptrdiff_t offset) noexcept {
        index_ += offset;
        return *this;
    }
    constexpr RingIterator& operator-=(std::ptrdiff_t offset) noexcept { return *this += -offset; }

    [[nodiscard]] friend constexpr RingIterator operator+(RingIterator it, std::ptrdiff_t offset) noexcept {
        return it += offset;
    }
    [[nodiscard]] friend constexpr RingIterator operator+(std::ptrdiff_t offset, RingIterator it) noexcept {
        return it += offset;
    }
    [[nodiscard]] friend constexpr RingIterator operator-(RingIterator it, std::ptrdiff_t offset) noexcept {
        return it -= offset;
    }
    [[nodiscard]] friend constexpr std::ptrdiff_t operator-(const RingIterator& one,
                                                            const RingIterator& other) noexcept {
        return one.index_ - other.index_;
    }
    [[nodiscard]] friend constexpr bool operator==(const RingIterator& one,
                                                   const RingIterator& other) noexcept {
        return one.index_ == other.index_;
    }
    [[nodiscard]] friend constexpr std::strong_ordering operator<=>(const RingIterator& one,
                                                                    const RingIterator& other) noexcept {
        return one.index_ <=> other.index_;
    }

private:
    T* slots_ = nullptr;
    std::size_t capacity_ = 0;
    std::size_t head_ = 0;
    std::ptrdiff_t index_ = 0;
};

}  // namespace ouro
