#pragma once

#include <ouro/memory/collections/iterator_steps.hpp>

#include <compare>
#include <cstddef>
#include <iterator>
#include <type_traits>

namespace ouro {

// Walks a ring from its oldest element. Random access; valid until something is removed at the front.
template <class T>
class RingIterator : public IteratorSteps<RingIterator<T>> {
public:
    using value_type = std::remove_cv_t<T>;
    using difference_type = std::ptrdiff_t;
    using reference = T&;
    using pointer = T*;
    using iterator_category = std::random_access_iterator_tag;

    constexpr RingIterator() noexcept = default;
    // In the slots up to the limit, of which one is never used; `head` is the oldest element's.
    constexpr RingIterator(T* slots, T* limit, T* head, T* at) noexcept
        : slots_(slots), limit_(limit), head_(head), at_(at) {}
    constexpr operator RingIterator<const T>() const noexcept
        requires(!std::is_const_v<T>)
    {
        return {slots_, limit_, head_, at_};
    }

    [[nodiscard]] constexpr T& operator*() const noexcept { return *at_; }
    [[nodiscard]] constexpr T* operator->() const noexcept { return at_; }
    [[nodiscard]] constexpr T& operator[](std::ptrdiff_t offset) const noexcept { return *(*this + offset); }

    constexpr RingIterator& operator++() noexcept {
        // A branch, which is nearly always foreseen; a choice of two values would make each step wait for it.
        if (++at_ == limit_) [[unlikely]]
            at_ = slots_;
        return *this;
    }
    constexpr RingIterator& operator--() noexcept {
        if (at_ == slots_) at_ = limit_;
        --at_;
        return *this;
    }
    using IteratorSteps<RingIterator<T>>::operator++;
    using IteratorSteps<RingIterator<T>>::operator--;
    constexpr RingIterator& operator+=(std::ptrdiff_t offset) noexcept {
        const std::ptrdiff_t slots = limit_ - slots_;
        std::ptrdiff_t place = at_ - slots_ + offset;
        if (place >= slots) place -= slots;
        if (place < 0) place += slots;
        at_ = slots_ + place;
        return *this;
    }

    [[nodiscard]] friend constexpr std::ptrdiff_t operator-(const RingIterator& one,
                                                            const RingIterator& other) noexcept {
        return one.position() - other.position();
    }
    [[nodiscard]] friend constexpr bool operator==(const RingIterator& one,
                                                   const RingIterator& other) noexcept {
        return one.at_ == other.at_;
    }
    [[nodiscard]] friend constexpr std::strong_ordering operator<=>(const RingIterator& one,
                                                                    const RingIterator& other) noexcept {
        return one.position() <=> other.position();
    }

private:
    [[nodiscard]] constexpr std::ptrdiff_t position() const noexcept {
        return at_ < head_ ? at_ - head_ + (limit_ - slots_) : at_ - head_;
    }

    T* slots_ = nullptr;
    T* limit_ = nullptr;
    T* head_ = nullptr;
    T* at_ = nullptr;
};

}  // namespace ouro
