#pragma once

#include <ouro/memory/allocator.hpp>
#include <ouro/memory/collections/soa_iterator.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

namespace ouro {

// The widest vectors there are (AVX-512, a cache line): what columns are aligned to and padded by.
inline constexpr std::size_t kSimdBytes = 64;
// How many values of a type such a vector holds.
template <class T>
inline constexpr std::size_t kSimdLanes = kSimdBytes / sizeof(T);

// Rows stored by column, all columns in one block. Each column starts on a SIMD boundary and can be read and
// written in whole vectors past the last row, up to padded_size(): a kernel needs no remainder loop. What
// lies there is initialised, and means nothing.
//
//     SoaBlock<Position, Velocity, Health> creatures(allocator);
//     creatures.push({1, 2}, {0, 1}, 100);
//     for (auto [position, velocity, health] : creatures) position += velocity;
//     std::span<Position> positions = creatures.column<Position>();
//
// What needs memory returns its Status and changes nothing when it fails. Pointers and spans are valid until
// the next growth.
template <class... Ts>
class SoaBlock {
    static_assert(sizeof...(Ts) != 0, "a row has at least one column");
    static_assert((std::is_nothrow_move_constructible_v<Ts> && ...) &&
                      (std::is_nothrow_destructible_v<Ts> && ...),
                  "rows are moved between blocks, where nothing may fail");

public:
    using Row = std::tuple<Ts&...>;
    using ConstRow = std::tuple<const Ts&...>;
    using value_type = Row;
    using size_type = std::size_t;
    using difference_type = std::ptrdiff_t;
    using iterator = SoaIterator<Ts...>;
    using const_iterator = SoaIterator<const Ts...>;
    template <std::size_t I>
    using Column = std::tuple_element_t<I, std::tuple<Ts...>>;

    static constexpr std::size_t kColumns = sizeof...(Ts);
    // Capacities are multiples of this: so many rows are whole vectors in every column.
    static constexpr std::size_t kRowStep = kSimdBytes;

    explicit SoaBlock(Allocator allocator) noexcept : allocator_(allocator) {}
    SoaBlock(SoaBlock&& other) noexcept
        : allocator_(other.allocator_),
          columns_(std::exchange(other.columns_, {})),
          count_(std::exchange(other.count_, 0)),
          ready_(std::exchange(other.ready_, 0)),
          capacity_(std::exchange(other.capacity_, 0)) {}
    SoaBlock& operator=(SoaBlock&& other) noexcept {
        if (this != &other) {
            std::destroy_at(this);
            std::construct_at(this, std::move(other));
        }
        return *this;
    }
    ~SoaBlock() { release(); }

    // A row at the end; returns its number. The values may lie in this block.
    template <class... Us>
        requires(sizeof...(Us) == sizeof...(Ts) && (std::constructible_from<Ts, Us> && ...))
    [[nodiscard]] Expected<std::size_t> emplace(Us&&... values) noexcept {
        if (count_ == ready_) [[unlikely]]
            return emplace_slow(std::forward<Us>(values)...);
        construct_row(columns_, std::forward<Us>(values)...);
        return count_++;
    }
    [[nodiscard]] Expected<std::size_t> push(const Ts&... values) noexcept
        requires(std::copy_constructible<Ts> && ...)
    {
        return emplace(values...);
    }

    // Removes in one step: the last row takes the place. Requires: row < size() (debug assert).
    void swap_remove(std::size_t row) noexcept {
        OURO_DEBUG_ASSERT(row < count_, "there is no such row");
        const std::size_t last = --count_;
        for_each_column([&](auto* column) {
            if (row != last) column[row] = std::move(column[last]);
            std::destroy_at(column + last);
        });
    }
    void pop_back() noexcept { swap_remove(count_ - 1); }

    // New rows are value-initialised.
    [[nodiscard]] Status resize(std::size_t rows) noexcept {
        if (rows <= count_) {
            destroy_rows(rows);
            return Status::ok;
        }
        const Status grown = rows > capacity_ ? change_capacity(rows, generous(rows)) : Status::ok;
        if (grown != Status::ok) return grown;
        make_ready(columns_, rows);
        for_each_column(
            [&](auto* column) { std::uninitialized_value_construct(column + count_, column + rows); });
        count_ = rows;
        return Status::ok;
    }
    [[nodiscard]] Status reserve(std::size_t rows) noexcept {
        return rows <= capacity_ ? Status::ok : change_capacity(rows, rows);
    }
    // Gives back what the rows do not need.
    [[nodiscard]] Status shrink_to_fit() noexcept {
        if (count_ == 0) {
            release();
            return Status::ok;
        }
        return whole_steps(count_) == capacity_ ? Status::ok : change_capacity(count_, count_);
    }
    // Destroys the rows and keeps the memory.
    void clear() noexcept { destroy_rows(0); }
    void release() noexcept {
        clear();
        give_back();
        columns_ = {};
        ready_ = capacity_ = 0;
    }

    // By number, or by type where only one column has it.
    template <std::size_t I>
    [[nodiscard]] std::span<Column<I>> column() noexcept {
        return {std::get<I>(columns_), count_};
    }
    template <std::size_t I>
    [[nodiscard]] std::span<const Column<I>> column() const noexcept {
        return {std::get<I>(columns_), count_};
    }
    template <class T>
    [[nodiscard]] std::span<T> column() noexcept {
        return {std::get<T*>(columns_), count_};
    }
    template <class T>
    [[nodiscard]] std::span<const T> column() const noexcept {
        return {std::get<T*>(columns_), count_};
    }

    // The column with its padding, in whole vectors: for kernels.
    template <std::size_t I>
        requires std::is_trivially_copyable_v<Column<I>>
    [[nodiscard]] std::span<Column<I>> padded_column() noexcept {
        return {std::get<I>(columns_), padded_size()};
    }
    template <class T>
        requires std::is_trivially_copyable_v<T>
    [[nodiscard]] std::span<T> padded_column() noexcept {
        return {std::get<T*>(columns_), padded_size()};
    }
    // size() rounded up to the row step.
    [[nodiscard]] std::size_t padded_size() const noexcept { return whole_steps(count_); }

    // Requires: row < size() (debug assert).
    [[nodiscard]] Row operator[](std::size_t row) noexcept {
        OURO_DEBUG_ASSERT(row < count_, "there is no such row");
        return *(begin() + static_cast<std::ptrdiff_t>(row));
    }
    [[nodiscard]] ConstRow operator[](std::size_t row) const noexcept {
        OURO_DEBUG_ASSERT(row < count_, "there is no such row");
        return *(begin() + static_cast<std::ptrdiff_t>(row));
    }
    [[nodiscard]] iterator begin() noexcept { return iterator(columns_, 0); }
    [[nodiscard]] iterator end() noexcept { return iterator(columns_, static_cast<std::ptrdiff_t>(count_)); }
    [[nodiscard]] const_iterator begin() const noexcept { return const_iterator(columns_, 0); }
    [[nodiscard]] const_iterator end() const noexcept {
        return const_iterator(columns_, static_cast<std::ptrdiff_t>(count_));
    }

    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
    [[nodiscard]] std::size_t size() const noexcept { return count_; }
    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
    // Of the one block.
    [[nodiscard]] std::size_t block_bytes() const noexcept { return offsets_for(capacity_).back(); }
    [[nodiscard]] Allocator allocator() const noexcept { return allocator_; }

private:
    using Columns = std::tuple<Ts*...>;
    static constexpr std::size_t kAlignment = std::max({kSimdBytes, alignof(Ts)...});
    static constexpr std::size_t kRowBytes = (sizeof(Ts) + ...);
    // Each column may add less than one alignment to the rows themselves.
    static constexpr std::size_t kMaxRows =
        (static_cast<std::size_t>(PTRDIFF_MAX) - kColumns * kAlignment) / kRowBytes & ~(kRowStep - 1);

    [[nodiscard]] static constexpr std::size_t whole_steps(std::size_t rows) noexcept {
        return (rows + kRowStep - 1) & ~(kRowStep - 1);
    }
    [[nodiscard]] std::size_t generous(std::size_t rows) const noexcept {
        return std::max(rows, std::min(2 * capacity_, kMaxRows));
    }
    // Where each column starts, and the end of the last.
    [[nodiscard]] static constexpr std::array<std::size_t, kColumns + 1> offsets_for(
        std::size_t capacity) noexcept {
        constexpr std::array<std::size_t, kColumns> sizes{sizeof(Ts)...};
        std::array<std::size_t, kColumns + 1> offsets{};
        for (std::size_t i = 0; i < kColumns; ++i)
            offsets[i + 1] = (offsets[i] + capacity * sizes[i] + kAlignment - 1) & ~(kAlignment - 1);
        return offsets;
    }
    [[nodiscard]] static Columns columns_in(MemoryBlock block, std::size_t capacity) noexcept {
        const auto offsets = offsets_for(capacity);
        return [&]<std::size_t... I>(std::index_sequence<I...>) {
            return Columns{reinterpret_cast<Ts*>(block.data + offsets[I])...};
        }(std::index_sequence_for<Ts...>{});
    }
    template <class Visit>
    void for_each_column(Visit visit) noexcept {
        std::apply([&](auto*... column) { (visit(column), ...); }, columns_);
    }
    template <class... Us>
    void construct_row(const Columns& columns, Us&&... values) noexcept {
        std::apply(
            [&](auto*... column) { (std::construct_at(column + count_, std::forward<Us>(values)), ...); },
            columns);
    }
    void destroy_rows(std::size_t keep) noexcept {
        for_each_column([&](auto* column) { std::destroy(column + keep, column + count_); });
        count_ = keep;
    }
    void give_back() noexcept {
        if (capacity_ == 0) return;
        auto* const data = reinterpret_cast<std::byte*>(std::get<0>(columns_));
        allocator_.deallocate({data, block_bytes()}, kAlignment);
    }

    // Gives defined bytes to the padding of the step that the row lies in, before its first row is used: so
    // kernels never read what nobody wrote, and memory is touched only as rows come.
    void make_ready(const Columns& columns, std::size_t rows) noexcept {
        const std::size_t wanted = whole_steps(rows);
        if (wanted <= ready_) return;
        std::apply([&](auto*... column) { (clear_padding(column, ready_, wanted), ...); }, columns);
        ready_ = wanted;
    }
    template <class T>
    static void clear_padding(T* column, std::size_t from, std::size_t to) noexcept {
        if constexpr (std::is_trivially_copyable_v<T>)
            std::memset(static_cast<void*>(column + from), 0, (to - from) * sizeof(T));
    }

    [[nodiscard]] Expected<MemoryBlock> allocate_rows(std::size_t rows) noexcept {
        if (rows > kMaxRows) return Status::size_overflow;
        return allocator_.allocate(offsets_for(whole_steps(rows)).back(), kAlignment);
    }
    // Where there is no room to be generous, there may still be room for what is needed.
    [[nodiscard]] Expected<MemoryBlock> allocate_rows(std::size_t needed, std::size_t& rows) noexcept {
        const auto block = allocate_rows(rows);
        if (block || whole_steps(rows) == whole_steps(needed)) return block;
        rows = needed;
        return allocate_rows(needed);
    }
    [[nodiscard]] Status change_capacity(std::size_t needed, std::size_t wanted) noexcept {
        const auto block = allocate_rows(needed, wanted);
        if (!block) return block.status();
        move_into(*block, whole_steps(wanted));
        return Status::ok;
    }
    void move_into(MemoryBlock block, std::size_t capacity) noexcept {
        const Columns target = columns_in(block, capacity);
        [&]<std::size_t... I>(std::index_sequence<I...>) {
            (move_column(std::get<I>(columns_), std::get<I>(target)), ...);
        }(std::index_sequence_for<Ts...>{});
        give_back();
        columns_ = target;
        capacity_ = capacity;
        // Whatever was ready lies in the old block; the rows themselves do not need it.
        ready_ = count_ & ~(kRowStep - 1);
        clear_tail();
    }
    template <class T>
    void move_column(T* __restrict from, T* __restrict to) noexcept {
        for (std::size_t i = 0; i < count_; ++i) {
            std::construct_at(to + i, std::move(from[i]));
            std::destroy_at(from + i);
        }
    }
    // The padding behind the last row of a step that is partly full.
    void clear_tail() noexcept {
        if (ready_ == count_) return;
        for_each_column([&](auto* column) { clear_padding(column, count_, ready_ + kRowStep); });
        ready_ += kRowStep;
    }

    template <class... Us>
    [[gnu::noinline]] Expected<std::size_t> emplace_slow(Us&&... values) noexcept {
        if (count_ < capacity_) {
            make_ready(columns_, count_ + 1);
            construct_row(columns_, std::forward<Us>(values)...);
            return count_++;
        }
        std::size_t rows = generous(count_ + 1);
        const auto block = allocate_rows(count_ + 1, rows);
        if (!block) return block.status();
        // The new row first: its values may lie in the block that is left.
        const Columns target = columns_in(*block, whole_steps(rows));
        std::apply([&](auto*... column) { (clear_padding(column, count_, count_ + kRowStep), ...); }, target);
        construct_row(target, std::forward<Us>(values)...);
        move_into(*block, whole_steps(rows));
        ready_ = count_ + kRowStep;
        return count_++;
    }

    Allocator allocator_;
    Columns columns_{};
    std::size_t count_ = 0;
    // Rows whose padding has been cleared; a multiple of the row step.
    std::size_t ready_ = 0;
    std::size_t capacity_ = 0;
};

}  // namespace ouro
