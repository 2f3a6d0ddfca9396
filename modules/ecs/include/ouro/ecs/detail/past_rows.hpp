#pragma once

#include <ouro/ecs/detail/row_filter.hpp>
#include <ouro/ecs/detail/type_number.hpp>
#include <ouro/ecs/layout.hpp>
#include <ouro/ecs/query_terms.hpp>
#include <ouro/streams/tick_view.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <type_traits>

namespace ouro::detail {

// Rows of one column of a past tick: where they are kept, or a copy where that is in pieces.
template <class T, std::uint32_t kRows, bool kIsOptional>
class PastRows {
public:
    void gather(const TickView& view, std::uint32_t data, std::uint32_t begin, std::uint32_t count,
                bool is_there, std::uint64_t off) noexcept {
        cells_ = nullptr;
        off_ = off;
        if (!is_there) return;
        const std::uint64_t offset = data + std::uint64_t{begin} * sizeof(T);
        const auto kept = view.span(offset, count * sizeof(T));
        if (kept) {
            cells_ = reinterpret_cast<const T*>(kept->data());
            return;
        }
        const Status status = view.read(offset, std::as_writable_bytes(std::span(copy_).first(count)));
        OURO_ASSERT(status == Status::ok, "the rows of a world lie in the image");
        cells_ = copy_.data();
    }

    [[nodiscard]] decltype(auto) operator[](std::uint32_t row) const noexcept {
        if constexpr (kIsOptional)
            return cells_ == nullptr || is_off(row) ? nullptr : cells_ + row;
        else
            return static_cast<const T&>(cells_[row]);
    }
    [[nodiscard]] std::span<const T> span(std::uint32_t begin, std::uint32_t end) const noexcept {
        if (cells_ == nullptr || is_off(begin)) return {};
        return std::span(cells_ + begin, end - begin);
    }
    // Of an optional one, whether it is switched off in a row.
    [[nodiscard]] bool is_off(std::uint32_t row) const noexcept { return (off_ >> row & 1) != 0; }

private:
    static_assert(kRows <= 64);

    const T* cells_ = nullptr;
    std::uint64_t off_ = 0;
    std::array<T, kRows> copy_;
};

template <std::uint32_t kRows, class Term>
auto past_rows_of_term() {
    using Traits = TermTraits<Term>;
    if constexpr (Traits::kHandsOut)
        return std::tuple<PastRows<typename Traits::Component, kRows, !Traits::kRequired>>();
    else
        return std::tuple<>();
}

template <std::uint32_t kRows, class... Terms>
struct PastRowsOf {
    using Type = decltype(std::tuple_cat(past_rows_of_term<kRows, Terms>()...));
};

template <class Fn, class... Cells>
void call_past_row(Fn& fn, std::uint32_t row, const Cells&... cells) noexcept {
    fn(cells[row]...);
}

// 64 rows of a plane of bits; see BlockColumn.
[[nodiscard]] inline std::uint64_t past_plane_word(const TickView& view, const BlockColumn& column,
                                                   unsigned plane, std::uint32_t block_rows,
                                                   std::uint32_t begin) noexcept {
    std::uint64_t word = 0;
    const std::uint64_t index = std::uint64_t{plane} * (block_rows / 64) + begin / 64;
    static_cast<void>(
        view.read(column.planes + index * sizeof(word), std::as_writable_bytes(std::span(&word, 1))));
    return word;
}

[[nodiscard]] inline std::uint64_t past_disabled(const TickView& view, const BlockColumn& column,
                                                 std::uint32_t block_rows, std::uint32_t begin) noexcept {
    constexpr unsigned kDisabledPlane = 2;
    return column.has_disabled != 0 ? past_plane_word(view, column, kDisabledPlane, block_rows, begin) : 0;
}

[[nodiscard]] inline std::uint64_t past_changed(const TickView& view, const BlockColumn& column,
                                                std::uint32_t block_rows, std::uint32_t begin,
                                                std::uint32_t now, bool only_now) noexcept {
    const auto word_of = [&](Changes changes, unsigned plane) {
        if (changes == Changes::some) return past_plane_word(view, column, plane, block_rows, begin);
        return changes == Changes::all ? ~std::uint64_t{0} : 0;
    };
    if (column.tick == now) {
        const std::uint64_t current = word_of(column.now, column.turn);
        return only_now ? current : current | word_of(column.before, 1U - column.turn);
    }
    return column.tick == now - 1 && !only_now ? word_of(column.now, column.turn) : 0;
}

// Which rows of a past tick had changed in it, or in the one before. A world's commit counts its tick on
// before the bytes are kept: `next` is the tick that came after, and nothing has its mark. Where the ring
// ended the tick without the world, marks of `next` are those of the tick that went on; what the tick before
// changed counts as well then, for nothing tells the two apart.
[[nodiscard]] inline std::uint64_t past_changed_before(const TickView& view, const BlockColumn& column,
                                                       std::uint32_t block_rows, std::uint32_t begin,
                                                       std::uint32_t next, bool only_now) noexcept {
    return past_changed(view, column, block_rows, begin, next - 1, only_now) |
           past_changed(view, column, block_rows, begin, next, only_now);
}
// The same of rows that came.
[[nodiscard]] inline std::uint64_t past_came_before(const ArchetypeRecord& archetype, std::uint32_t next,
                                                    bool only_now, std::uint32_t first) noexcept {
    return rows_that_came(archetype, next - 1, only_now, first) |
           rows_that_came(archetype, next, only_now, first);
}

}  // namespace ouro::detail
