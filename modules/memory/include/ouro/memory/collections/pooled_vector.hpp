#pragma once

#include <ouro/memory/allocator.hpp>
#include <ouro/memory/collections/relocation.hpp>
#include <ouro/memory/collections/vector_growth.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace ouro {

// A vector on an allocator. What needs memory returns a Status or an Expected and changes nothing when it
// fails; capacity stays until shrink_to_fit() or release(), so that a vector refilled every frame allocates
// once. Elements that may be relocated as bytes (relocation.hpp) grow by reallocate, in place where the
// resource can.
//
//     PooledVector<Contact> contacts(allocator);
//     if (!contacts.push_back(contact)) return drop_it();
//     for (Contact& each : contacts) ...
//
// On a CapacityPool the blocks of dead vectors are used again by others, of any element type. All of a block
// that is larger than asked becomes capacity. Pointers, references and iterators are valid until the next
// growth.
//
// A growth asks for twice the capacity, where that is refused for less, and at last for exactly what is
// needed (vector_growth.hpp): at most three times. A resource that counts its failures counts each.
template <class T>
class PooledVector {
    static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_destructible_v<T>,
                  "elements are moved between blocks, where nothing may fail");

public:
    using value_type = T;
    using size_type = std::size_t;
    using difference_type = std::ptrdiff_t;
    using reference = T&;
    using const_reference = const T&;
    using iterator = T*;
    using const_iterator = const T*;

    static constexpr std::size_t kMaxSize = VectorGrowth<T>::kMaxSize;

    explicit PooledVector(Allocator allocator) noexcept : allocator_(allocator) {}
    // The other is empty afterwards, and keeps its allocator.
    PooledVector(PooledVector&& other) noexcept
        : allocator_(other.allocator_),
          begin_(std::exchange(other.begin_, nullptr)),
          end_(std::exchange(other.end_, nullptr)),
          limit_(std::exchange(other.limit_, nullptr)),
          growth_(std::exchange(other.growth_, {})) {}
    // Takes over allocator and storage.
    PooledVector& operator=(PooledVector&& other) noexcept {
        PooledVector taken(std::move(other));
        swap(taken);
        return *this;
    }
    ~PooledVector() { release(); }

    // Copying can fail, and therefore has a name.
    [[nodiscard]] Expected<PooledVector> clone() const noexcept
        requires std::copy_constructible<T>
    {
        PooledVector copy(allocator_);
        const Status status = copy.append(span());
        if (status != Status::ok) return status;
        return copy;
    }

    // Constructs an element at the end. The arguments may refer to elements. Fails as the allocator does, or
    // with size_overflow; what is moved into a trivially copyable T may be consumed even then.
    template <class... Args>
    [[nodiscard]] Expected<T*> emplace_back(Args&&... args) noexcept {
        if (end_ == limit_) [[unlikely]]
            return emplace_back_growing(std::forward<Args>(args)...);
        T* const made = std::construct_at(end_, std::forward<Args>(args)...);
        end_ = made + 1;
        return made;
    }
    [[nodiscard]] Expected<T*> push_back(const T& value) noexcept { return emplace_back(value); }
    [[nodiscard]] Expected<T*> push_back(T&& value) noexcept { return emplace_back(std::move(value)); }

    // Requires: not empty (debug assert).
    void pop_back() noexcept {
        OURO_DEBUG_ASSERT(!empty(), "there is no last element");
        std::destroy_at(--end_);
    }

    // Copies of all values at the end, or none of them. They may be elements of this vector.
    [[nodiscard]] Status append(std::span<const T> values) noexcept
        requires std::copy_constructible<T>
    {
        if (values.empty()) return Status::ok;
        const bool own = block().contains(values.data());
        const std::size_t own_index = own ? static_cast<std::size_t>(values.data() - begin_) : 0;
        if (values.size() > spare()) {
            const Status grown = grow_for(values.size());
            if (grown != Status::ok) return grown;
        }
        const T* first = own ? begin_ + own_index : values.data();
        end_ = std::uninitialized_copy_n(first, values.size(), end_);
        return Status::ok;
    }

    // Before the position, which is end() or an element's. Returns the new element; later ones move up.
    template <class... Args>
    [[nodiscard]] Expected<T*> emplace(const_iterator position, Args&&... args) noexcept {
        const std::size_t index = index_of(position);
        const Expected<T*> made = emplace_back(std::forward<Args>(args)...);
        if (!made) return made;
        if (begin_ + index == end_ - 1) return made;
        T value(std::move(end_[-1]));
        std::move_backward(begin_ + index, end_ - 1, end_);
        begin_[index] = std::move(value);
        return begin_ + index;
    }
    [[nodiscard]] Expected<T*> insert(const_iterator position, const T& value) noexcept {
        return emplace(position, value);
    }
    [[nodiscard]] Expected<T*> insert(const_iterator position, T&& value) noexcept {
        return emplace(position, std::move(value));
    }

    // Removes and keeps the order. Returns where the element behind the last removed is now.
    iterator erase(const_iterator first, const_iterator last) noexcept {
        T* const from = begin_ + index_of(first);
        T* const to = begin_ + index_of(last);
        OURO_DEBUG_ASSERT(from <= to, "the range is upside down");
        if (from != to) truncate(std::move(to, end_, from));
        return from;
    }
    iterator erase(const_iterator position) noexcept { return erase(position, position + 1); }

    // Removes in one step: the last element takes the place. Requires: index < size() (debug assert).
    void swap_remove(std::size_t index) noexcept {
        OURO_DEBUG_ASSERT(index < size(), "there is no such element");
        T* const last = end_ - 1;
        if (begin_ + index != last) begin_[index] = std::move(*last);
        pop_back();
    }

    // Room for so many elements without another allocation.
    [[nodiscard]] Status reserve(std::size_t count) noexcept {
        return count <= capacity() ? Status::ok : change_capacity(count);
    }
    // New elements are value-initialised.
    [[nodiscard]] Status resize(std::size_t count) noexcept {
        const Status ready = make_room_for_size(count);
        if (ready != Status::ok) return ready;
        if (count > size()) std::uninitialized_value_construct(end_, begin_ + count);
        set_size(count);
        return Status::ok;
    }
    [[nodiscard]] Status resize(std::size_t count, const T& value) noexcept
        requires std::copy_constructible<T>
    {
        if (count <= capacity()) {
            if (count > size()) std::uninitialized_fill(end_, begin_ + count, value);
            set_size(count);
            return Status::ok;
        }
        // The value may be an element, which moves.
        const T copy(value);
        const Status ready = make_room_for_size(count);
        if (ready != Status::ok) return ready;
        std::uninitialized_fill(end_, begin_ + count, copy);
        end_ = begin_ + count;
        return Status::ok;
    }

    // Gives back what the elements do not need, as far as the resource can.
    [[nodiscard]] Status shrink_to_fit() noexcept {
        if (size() == capacity()) return Status::ok;
        if (!empty()) return change_capacity(size());
        release();
        return Status::ok;
    }

    // Destroys the elements and keeps the capacity.
    void clear() noexcept { truncate(begin_); }
    // Destroys the elements and returns the memory.
    void release() noexcept {
        clear();
        give_back();
        begin_ = end_ = limit_ = nullptr;
        growth_ = {};
    }

    void swap(PooledVector& other) noexcept {
        std::swap(allocator_, other.allocator_);
        std::swap(begin_, other.begin_);
        std::swap(end_, other.end_);
        std::swap(limit_, other.limit_);
        std::swap(growth_, other.growth_);
    }

    [[nodiscard]] T& operator[](std::size_t index) noexcept {
        OURO_DEBUG_ASSERT(index < size(), "there is no such element");
        return begin_[index];
    }
    [[nodiscard]] const T& operator[](std::size_t index) const noexcept {
        OURO_DEBUG_ASSERT(index < size(), "there is no such element");
        return begin_[index];
    }
    // The element, or out_of_range: for indices that nobody has looked at.
    [[nodiscard]] Expected<T*> at(std::size_t index) noexcept {
        if (index >= size()) return Status::out_of_range;
        return begin_ + index;
    }
    [[nodiscard]] Expected<const T*> at(std::size_t index) const noexcept {
        if (index >= size()) return Status::out_of_range;
        return begin_ + index;
    }
    [[nodiscard]] T& front() noexcept { return (*this)[0]; }
    [[nodiscard]] const T& front() const noexcept { return (*this)[0]; }
    [[nodiscard]] T& back() noexcept { return (*this)[size() - 1]; }
    [[nodiscard]] const T& back() const noexcept { return (*this)[size() - 1]; }

    [[nodiscard]] T* data() noexcept { return begin_; }
    [[nodiscard]] const T* data() const noexcept { return begin_; }
    [[nodiscard]] std::span<T> span() noexcept { return {begin_, end_}; }
    [[nodiscard]] std::span<const T> span() const noexcept { return {begin_, end_}; }
    [[nodiscard]] iterator begin() noexcept { return begin_; }
    [[nodiscard]] iterator end() noexcept { return end_; }
    [[nodiscard]] const_iterator begin() const noexcept { return begin_; }
    [[nodiscard]] const_iterator end() const noexcept { return end_; }

    [[nodiscard]] bool empty() const noexcept { return begin_ == end_; }
    [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(end_ - begin_); }
    [[nodiscard]] std::size_t capacity() const noexcept { return static_cast<std::size_t>(limit_ - begin_); }
    [[nodiscard]] Allocator allocator() const noexcept { return allocator_; }

    [[nodiscard]] friend bool operator==(const PooledVector& one, const PooledVector& other) noexcept
        requires std::equality_comparable<T>
    {
        return std::equal(one.begin_, one.end_, other.begin_, other.end_);
    }

private:
    static constexpr bool kCopiesAsBytes = std::is_trivially_copyable_v<T>;

    [[nodiscard]] std::size_t spare() const noexcept { return static_cast<std::size_t>(limit_ - end_); }
    [[nodiscard]] std::size_t index_of(const_iterator position) const noexcept {
        OURO_DEBUG_ASSERT(begin_ <= position && position <= end_, "the position is of another vector");
        return static_cast<std::size_t>(position - begin_);
    }
    [[nodiscard]] MemoryBlock block() const noexcept {
        return {reinterpret_cast<std::byte*>(begin_), capacity() * sizeof(T)};
    }
    void give_back() noexcept {
        if (begin_ != nullptr) allocator_.deallocate(block(), alignof(T));
    }
    void truncate(T* new_end) noexcept {
        std::destroy(new_end, end_);
        end_ = new_end;
    }
    void set_size(std::size_t count) noexcept {
        if (count < size()) {
            truncate(begin_ + count);
        } else {
            end_ = begin_ + count;
        }
    }
    void adopt(MemoryBlock block, std::size_t count) noexcept {
        begin_ = reinterpret_cast<T*>(block.data);
        end_ = begin_ + count;
        limit_ = begin_ + block.size / sizeof(T);
    }

    // As bytes, or in one pass and with pointers that are known not to overlap, so that the compiler sees
    // that what was moved from needs no more work.
    static void relocate(T* __restrict from, std::size_t count, T* __restrict to) noexcept {
        if constexpr (kRelocatesAsBytes<T>) {
            if (count != 0) std::memcpy(static_cast<void*>(to), from, count * sizeof(T));
            return;
        }
        for (std::size_t i = 0; i < count; ++i) {
            std::construct_at(to + i, std::move(from[i]));
            std::destroy_at(from + i);
        }
    }
    // Moves the elements into the new block and leaves the old one.
    void move_into(MemoryBlock block, std::size_t new_size) noexcept {
        relocate(begin_, size(), reinterpret_cast<T*>(block.data));
        give_back();
        adopt(block, new_size);
    }

    // Requires: size() <= count.
    [[nodiscard]] Status change_capacity(std::size_t count) noexcept {
        if (count > kMaxSize) return Status::size_overflow;
        const std::size_t bytes = count * sizeof(T);
        const std::size_t old_size = size();
        if constexpr (kRelocatesAsBytes<T>) {
            const auto changed = allocator_.reallocate(block(), bytes, alignof(T));
            if (!changed) return changed.status();
            adopt(*changed, old_size);
        } else {
            const auto fresh = allocator_.allocate(bytes, alignof(T));
            if (!fresh) return fresh.status();
            move_into(*fresh, old_size);
        }
        return Status::ok;
    }

    [[gnu::noinline]] Status grow_for(std::size_t more) noexcept {
        if (more > kMaxSize - size()) return Status::size_overflow;
        Status status = Status::ok;
        growth_.try_capacities(size() + more, capacity(), [&](std::size_t wanted) {
            status = change_capacity(wanted);
            return status == Status::ok;
        });
        return status;
    }
    [[nodiscard]] Status make_room_for_size(std::size_t count) noexcept {
        return count <= capacity() ? Status::ok : grow_for(count - size());
    }

    // Of a full vector.
    template <class... Args>
    [[nodiscard]] Expected<T*> emplace_back_growing(Args&&... args) noexcept {
        if constexpr (kCopiesAsBytes) {
            return emplace_back_bytes(std::forward<Args>(args)...);
        } else {
            // Neither the vector nor the arguments are shown to the functions that are called: a loop around
            // this keeps the ends of the vector in registers, and knows that the arguments were moved from.
            const std::size_t old_size = size();
            VectorGrowth<T> growth = growth_;
            const auto fresh = allocate_grown(allocator_, old_size, growth);
            growth_ = growth;
            if (!fresh) return fresh.status();
            T* const target = reinterpret_cast<T*>(fresh->data);
            T* const made = std::construct_at(target + old_size, std::forward<Args>(args)...);
            relocate_and_free(allocator_, begin_, old_size, target);
            adopt(*fresh, old_size + 1);
            return made;
        }
    }
    template <class... Args>
    [[gnu::noinline]] Expected<T*> emplace_back_bytes(Args&&... args) noexcept {
        // Made before the storage moves, since the arguments may lie in it.
        const T value(std::forward<Args>(args)...);
        const Status grown = grow_for(1);
        if (grown != Status::ok) return grown;
        return std::construct_at(end_++, value);
    }
    [[gnu::noinline]] static Expected<MemoryBlock> allocate_grown(Allocator allocator, std::size_t full_size,
                                                                  VectorGrowth<T>& growth) noexcept {
        if (full_size == kMaxSize) return Status::size_overflow;
        Expected<MemoryBlock> fresh = Status::out_of_memory;
        growth.try_capacities(full_size + 1, full_size, [&](std::size_t wanted) {
            fresh = allocator.allocate(wanted * sizeof(T), alignof(T));
            return static_cast<bool>(fresh);
        });
        return fresh;
    }
    [[gnu::noinline]] static void relocate_and_free(Allocator allocator, T* from, std::size_t full_size,
                                                    T* to) noexcept {
        if (full_size == 0) return;
        relocate(from, full_size, to);
        allocator.deallocate({reinterpret_cast<std::byte*>(from), full_size * sizeof(T)}, alignof(T));
    }

    Allocator allocator_;
    T* begin_ = nullptr;
    T* end_ = nullptr;
    T* limit_ = nullptr;
    VectorGrowth<T> growth_;
};

}  // namespace ouro
