#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/base/offset_ptr.hpp>
#include <ouro/base/sim_value.hpp>
#include <ouro/streams/image_heap.hpp>
#include <ouro/streams/image_owner.hpp>
#include <ouro/streams/past_reader.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

namespace ouro {

template <class T>
class SimVecRef;

// A growing array whose elements lie in an ImageHeap: in the image are an offset and two numbers. All zero is
// an empty one. It owns nothing by itself: release() before what holds it goes.
//
//     struct Town { SimVec<House> houses; };
//     auto houses = heap.bind(town.houses);
//     houses.push_back({.rooms = 3});
//     houses.edit(0).rooms = 4;
//     for (const House& house : houses) ...
template <class T>
class SimVec {
public:
    using Bound = SimVecRef<T>;
    using value_type = T;

    [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
    [[nodiscard]] std::uint32_t capacity() const noexcept { return capacity_; }
    [[nodiscard]] bool is_empty() const noexcept { return size_ == 0; }

    // The elements in the image or in a whole copy of it, for reading.
    [[nodiscard]] std::span<const T> in(ConstOffsetBase base) const noexcept {
        return {items_.in(base, size_), size_};
    }

    // One element of a past tick, of which this header is too. Fails with out_of_range.
    [[nodiscard]] Expected<T> at(const PastReader& past, std::uint32_t index) const noexcept {
        if (index >= size_) return Status::out_of_range;
        T value{};
        const Status status = past.load(items_, index, std::span<T>(&value, 1));
        if (status != Status::ok) return status;
        return value;
    }
    // As many elements of a past tick as there is room for, beginning with one. Fails with out_of_range.
    [[nodiscard]] Status read(const PastReader& past, std::uint32_t first, std::span<T> out) const noexcept {
        if (first > size_ || out.size() > size_ - first) return Status::out_of_range;
        return past.load(items_, first, out);
    }

    // Whether the elements can be where the header says, and be read there: ok, or corrupt_data.
    [[nodiscard]] Status check(ConstOffsetBase base) const noexcept {
        if (size_ > capacity_ || (capacity_ == 0) != items_.is_null()) return Status::corrupt_data;
        const std::uint64_t bytes = std::uint64_t{capacity_} * sizeof(T);
        const bool fits = items_.offset() <= base.size() && bytes <= base.size() - items_.offset();
        return fits && items_.offset() % alignof(T) == 0 ? Status::ok : Status::corrupt_data;
    }
    // Whether that can be memory of the heap too, which is asked before the array is changed.
    [[nodiscard]] Status check(const ImageHeap& heap) const noexcept {
        if (const Status status = check(heap.base()); status != Status::ok) return status;
        const bool is_of_it =
            capacity_ == 0 || heap.can_have(items_.offset(), std::uint64_t{capacity_} * sizeof(T));
        return is_of_it ? Status::ok : Status::corrupt_data;
    }

    // For owner_source().
    [[nodiscard]] bool find_owner(std::uint64_t offset, ImageOwner& owner) const noexcept {
        const std::uint64_t number = (offset - items_.offset()) / sizeof(T);
        if (offset < items_.offset() || number >= capacity_) return false;
        owner.kind = OwnerKind::element;
        owner.offset = items_.offset() + number * sizeof(T);
        owner.bytes = sizeof(T);
        owner.number = number;
        return true;
    }

private:
    friend class SimVecRef<T>;

    OffsetPtr<T> items_;
    std::uint32_t size_ = 0;
    std::uint32_t capacity_ = 0;
};

// Tells reports which element has a byte, those beyond the size included. Requires: the array lies in the
// image that is asked about.
template <class T>
[[nodiscard]] OwnerSource owner_source(std::string_view name, const SimVec<T>& array) noexcept {
    return {.name = name,
            .context = &array,
            .find = [](const void* context, ConstOffsetBase, std::uint64_t offset, ImageOwner& owner) {
                return static_cast<const SimVec<T>*>(context)->find_owner(offset, owner);
            }};
}

template <class T>
inline constexpr bool kIsSimValue<SimVec<T>> = true;
static_assert(sizeof(SimVec<double>) == 12 && alignof(SimVec<double>) == 4);
static_assert(std::is_standard_layout_v<SimVec<int>> && SimKey<SimVec<int>>);

// The operations of a SimVec in the image; see ImageHeap::bind. What it hands out is for reading; edit() and
// edit_all() declare what they hand out. Elements move when the array grows. Those that fail do so as
// ImageHeap::allocate does, and leave the array as it was.
template <class T>
class SimVecRef {
    static_assert(require_sim_value<T>());

public:
    SimVecRef(ImageHeap& heap, SimVec<T>& stored) noexcept : heap_(&heap), stored_(&stored) {}

    [[nodiscard]] std::uint32_t size() const noexcept { return stored_->size_; }
    [[nodiscard]] std::uint32_t capacity() const noexcept { return stored_->capacity_; }
    [[nodiscard]] bool is_empty() const noexcept { return stored_->size_ == 0; }
    [[nodiscard]] std::span<const T> all() const noexcept { return {items(), size()}; }
    [[nodiscard]] const T* begin() const noexcept { return items(); }
    [[nodiscard]] const T* end() const noexcept { return items() + size(); }

    // Requires: index < size().
    [[nodiscard]] const T& operator[](std::uint32_t index) const noexcept {
        OURO_DEBUG_ASSERT(index < size(), "the element is in the array");
        return items()[index];
    }
    [[nodiscard]] T& edit(std::uint32_t index) noexcept { return heap_->edit((*this)[index]); }
    [[nodiscard]] std::span<T> edit_all() noexcept {
        if (!is_empty()) heap_->mark(items(), size() * sizeof(T));
        return {items(), size()};
    }

    Status push_back(T value) noexcept {
        if (size() == capacity()) [[unlikely]] {
            if (const Status status = grow(std::uint64_t{size()} + 1); status != Status::ok) return status;
        }
        heap_->edit(items()[size()]) = value;
        ++heap_->edit(stored_->size_);
        return Status::ok;
    }
    // The elements may be its own.
    Status append(std::span<const T> values) noexcept { return insert(size(), values); }
    Status assign(std::span<const T> values) noexcept;
    // Before the element at `index`, or at the end. Requires: index <= size().
    Status insert(std::uint32_t index, T value) noexcept { return insert(index, std::span(&value, 1)); }
    Status insert(std::uint32_t index, std::span<const T> values) noexcept;

    // Requires: not empty.
    void pop_back() noexcept {
        OURO_ASSERT(!is_empty(), "an empty array has no last element");
        --heap_->edit(stored_->size_);
    }
    // The others keep their order. Requires: index < size().
    void erase(std::uint32_t index) noexcept {
        OURO_ASSERT(index < size(), "the element is in the array");
        const std::size_t bytes = (size() - index - 1) * sizeof(T);
        heap_->mark(items() + index, bytes);
        std::memmove(items() + index, items() + index + 1, bytes);
        pop_back();
    }
    // The last one takes its place: writes one element. Requires: index < size().
    void erase_unordered(std::uint32_t index) noexcept {
        edit(index) = (*this)[size() - 1];
        pop_back();
    }
    // New elements are zero.
    Status resize(std::uint32_t new_size) noexcept;
    Status reserve(std::uint32_t new_capacity) noexcept {
        return new_capacity <= capacity() ? Status::ok : set_capacity(new_capacity);
    }
    // Keeps the memory.
    void clear() noexcept {
        if (!is_empty()) heap_->edit(stored_->size_) = 0;
    }
    // Gives the memory back.
    void release() noexcept {
        heap_->deallocate(block());
        heap_->edit(*stored_) = {};
    }

private:
    [[nodiscard]] T* items() const noexcept { return stored_->items_.in(heap_->base(), capacity()); }
    [[nodiscard]] MemoryBlock block() const noexcept {
        if (capacity() == 0) return {};
        return {reinterpret_cast<std::byte*>(items()), capacity() * sizeof(T)};
    }
    Status grow(std::uint64_t needed) noexcept {
        const std::uint64_t doubled = std::uint64_t{capacity()} * 2;
        if (doubled > needed && set_capacity(doubled) == Status::ok) return Status::ok;
        return set_capacity(needed);
    }
    Status set_capacity(std::uint64_t count) noexcept;

    ImageHeap* heap_;
    SimVec<T>* stored_;
};

template <class T>
Status SimVecRef<T>::set_capacity(std::uint64_t count) noexcept {
    const std::uint64_t bytes = count * sizeof(T);
    if (bytes >= heap_->base().size()) return Status::capacity_exhausted;
    const auto moved = heap_->reallocate_unclear(block(), static_cast<std::size_t>(bytes), alignof(T));
    if (!moved) return moved.status();
    // All of what was given: the rest of the last unit may hold another element.
    SimVec<T>& stored = heap_->edit(*stored_);
    stored.items_ = OffsetPtr<T>::from_offset(heap_->offset_of(moved->data));
    stored.capacity_ = static_cast<std::uint32_t>(moved->size / sizeof(T));
    return Status::ok;
}

template <class T>
Status SimVecRef<T>::resize(std::uint32_t new_size) noexcept {
    if (new_size > capacity()) {
        if (const Status status = grow(new_size); status != Status::ok) return status;
    }
    if (new_size > size()) {
        T* const first = items() + size();
        const std::size_t bytes = (new_size - size()) * sizeof(T);
        heap_->mark(first, bytes);
        std::memset(static_cast<void*>(first), 0, bytes);
    }
    if (new_size != size()) heap_->edit(stored_->size_) = new_size;
    return Status::ok;
}

template <class T>
Status SimVecRef<T>::assign(std::span<const T> values) noexcept {
    // A part of itself fits, and moves down.
    if (values.size() > capacity()) {
        if (const Status status = set_capacity(values.size()); status != Status::ok) return status;
    }
    if (!values.empty()) {
        heap_->mark(items(), values.size_bytes());
        std::memmove(items(), values.data(), values.size_bytes());
    }
    heap_->edit(stored_->size_) = static_cast<std::uint32_t>(values.size());
    return Status::ok;
}

template <class T>
Status SimVecRef<T>::insert(std::uint32_t index, std::span<const T> values) noexcept {
    OURO_ASSERT(index <= size(), "elements are inserted within the array or at its end");
    if (values.empty()) return Status::ok;
    // Elements of its own move with it.
    const bool is_own = !block().is_null() && block().contains(values.data());
    const std::size_t from = is_own ? static_cast<std::size_t>(values.data() - items()) : 0;
    const std::uint64_t needed = std::uint64_t{size()} + values.size();
    if (needed > capacity()) {
        if (const Status status = grow(needed); status != Status::ok) return status;
    }
    T* const place = items() + index;
    heap_->mark(place, (size() - index + values.size()) * sizeof(T));
    std::memmove(place + values.size(), place, (size() - index) * sizeof(T));
    if (!is_own) {
        std::memcpy(place, values.data(), values.size_bytes());
    } else {
        // Those behind the place are further up by now.
        const std::size_t below = from < index ? std::min<std::size_t>(index - from, values.size()) : 0;
        std::memmove(place, items() + from, below * sizeof(T));
        std::memmove(place + below, items() + from + below + values.size(),
                     (values.size() - below) * sizeof(T));
    }
    heap_->edit(stored_->size_) = static_cast<std::uint32_t>(needed);
    return Status::ok;
}

}  // namespace ouro
