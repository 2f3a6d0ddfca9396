#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <new>
#include <type_traits>

namespace ouro {

// What a walk promises beside the concepts' other members. A copy of one that writes points to where a value
// was, which the walk may have packed away since: it passes once, and has no older category to claim.
template <bool kWrites>
struct SparseEntryWalk {
    using iterator_concept = std::input_iterator_tag;
};
template <>
struct SparseEntryWalk<false> {
    using iterator_category = std::input_iterator_tag;
    using iterator_concept = std::forward_iterator_tag;
};

// Walks over the elements of a CompressedSparseArray, lowest index first. Coming to an element unpacks its
// chunk, and so may pack another, as get() does.
//
// Nothing invalidates it but moving or ending the array: elements may be changed, added and erased during the
// walk, the one visited too; those behind it are met as they are when it comes to them. A walk that reads
// gives copies, and is a forward iterator. One that writes gives references: each is good until the walk goes
// on or anything else is asked of the array, so that it is an input iterator only.
template <class Array, class T, bool kWrites>
class SparseEntryIterator : public SparseEntryWalk<kWrites> {
public:
    struct Entry {
        std::uint32_t index;
        std::conditional_t<kWrites, T&, T> value;
    };
    using value_type = Entry;
    using difference_type = std::ptrdiff_t;
    using reference = Entry;
    using pointer = void;

    SparseEntryIterator() noexcept = default;

    // Requires: not at the end.
    [[nodiscard]] Entry operator*() const noexcept { return {static_cast<std::uint32_t>(index_), value()}; }
    SparseEntryIterator& operator++() noexcept {
        move_to(index_ + 1);
        return *this;
    }
    SparseEntryIterator operator++(int) noexcept
        requires(!kWrites)
    {
        const SparseEntryIterator before = *this;
        ++*this;
        return before;
    }
    void operator++(int) noexcept
        requires(kWrites)
    {
        ++*this;
    }
    [[nodiscard]] friend bool operator==(const SparseEntryIterator& one,
                                         const SparseEntryIterator& other) noexcept {
        return one.index_ == other.index_;
    }

private:
    friend Array;
    // A value need not have any that it could begin with.
    struct Copy {
        alignas(T) std::byte bytes[sizeof(T)];
    };

    explicit SparseEntryIterator(Array& array) noexcept : array_(&array) { move_to(0); }

    // To the first element from there on; to the end when its chunk cannot be unpacked.
    void move_to(std::uint64_t from) noexcept {
        index_ = array_->next_or_end(from);
        if (index_ == Array::kEnd) return;
        T* const place = array_->place_for_walk(static_cast<std::uint32_t>(index_), kWrites);
        if (place == nullptr) {
            index_ = Array::kEnd;
        } else if constexpr (kWrites) {
            held_ = place;
        } else {
            std::memcpy(held_.bytes, place, sizeof(T));
        }
    }
    [[nodiscard]] auto& value() const noexcept {
        if constexpr (kWrites) {
            return *held_;
        } else {
            return *std::launder(reinterpret_cast<const T*>(held_.bytes));
        }
    }

    Array* array_ = nullptr;
    std::uint64_t index_ = Array::kEnd;
    std::conditional_t<kWrites, T*, Copy> held_{};
};

}  // namespace ouro
