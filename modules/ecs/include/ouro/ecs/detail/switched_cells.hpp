#pragma once

#include <cstdint>
#include <tuple>

// Cells of optional components that can be switched off, beside those of others. Where none is off in a block
// they are as plain as the others.
namespace ouro::detail {

// Rows of which some are switched off: null there.
template <class T>
struct SwitchedCells {
    T* first;
    // A bit a row; null: none.
    const std::uint64_t* off;

    [[nodiscard]] bool is_there(std::uint32_t index) const noexcept {
        return first != nullptr && (off == nullptr || (off[index / 64] >> (index % 64) & 1) == 0);
    }
};

template <class T>
inline constexpr bool kIsSwitched = false;
template <class T>
inline constexpr bool kIsSwitched<SwitchedCells<T>> = true;

template <class... Cells>
[[nodiscard]] bool are_all_on(const std::tuple<Cells...>& cells) noexcept {
    const auto is_on = []<class Own>([[maybe_unused]] const Own& own) {
        if constexpr (kIsSwitched<Own>)
            return own.off == nullptr;
        else
            return true;
    };
    return std::apply([&](const auto&... own) { return (is_on(own) && ...); }, cells);
}

// Calls with all of them; with plain pointers where none is off.
template <class... Cells, class Visit>
void apply_cells(const std::tuple<Cells...>& cells, Visit&& visit) noexcept {
    if constexpr ((kIsSwitched<Cells> || ...)) {
        const auto plain = []<class Own>(const Own& own) {
            if constexpr (kIsSwitched<Own>)
                return own.first;
            else
                return own;
        };
        if (are_all_on(cells)) return std::apply([&](const auto&... own) { visit(plain(own)...); }, cells);
    }
    std::apply(visit, cells);
}

// The end of the rows from `begin` on in which the same of them are there.
template <class... Cells>
[[nodiscard]] std::uint32_t end_of_alike(const std::tuple<Cells...>& cells, std::uint32_t begin,
                                         std::uint32_t end) noexcept {
    if (are_all_on(cells)) return end;
    const auto is_alike = [begin]<class Own>([[maybe_unused]] const Own& own,
                                             [[maybe_unused]] std::uint32_t row) {
        if constexpr (kIsSwitched<Own>)
            return own.is_there(row) == own.is_there(begin);
        else
            return true;
    };
    std::uint32_t row = begin + 1;
    while (row < end && std::apply([&](const auto&... own) { return (is_alike(own, row) && ...); }, cells))
        ++row;
    return row;
}

}  // namespace ouro::detail
