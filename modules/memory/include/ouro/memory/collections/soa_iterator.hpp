#pragma once

#include <ouro/memory/collections/iterator_steps.hpp>

#include <compare>
#include <cstddef>
#include <iterator>
#include <tuple>
#include <type_traits>
#include <utility>

namespace ouro {

// Walks the rows of a SoaBlock; a row is a tuple of references, made for `auto [a, b] = *it`. Random access,
// but not for algorithms that take rows out of the block and put them back, such as sort: those do not
// compile.
template <class... Ts>
class SoaIterator : public IteratorSteps<SoaIterator<Ts...>> {
public:
    using value_type = std::tuple<Ts&...>;
    using difference_type = std::ptrdiff_t;
    using reference = std::tuple<Ts&...>;
    using pointer = void;
    using iterator_category = std::input_iterator_tag;
    using iterator_concept = std::random_access_iterator_tag;

    constexpr SoaIterator() noexcept = default;
    template <class Columns>
    constexpr SoaIterator(const Columns& columns, std::ptrdiff_t row) noexcept
        : columns_(columns), row_(row) {}

    [[nodiscard]] constexpr reference operator*() const noexcept {
        return std::apply([&](auto*... column) { return reference(column[row_]...); }, columns_);
    }
    [[nodiscard]] constexpr reference operator[](std::ptrdiff_t offset) const noexcept {
        return *(*this + offset);
    }
    // The number of the row in its block.
    [[nodiscard]] constexpr std::size_t row() const noexcept { return static_cast<std::size_t>(row_); }

    constexpr SoaIterator& operator++() noexcept { return *this += 1; }
    constexpr SoaIterator& operator--() noexcept { return *this += -1; }
    using IteratorSteps<SoaIterator<Ts...>>::operator++;
    using IteratorSteps<SoaIterator<Ts...>>::operator--;
    constexpr SoaIterator& operator+=(std::ptrdiff_t offset) noexcept {
        row_ += offset;
        return *this;
    }

    [[nodiscard]] friend constexpr std::ptrdiff_t operator-(const SoaIterator& one,
                                                            const SoaIterator& other) noexcept {
        return one.row_ - other.row_;
    }
    [[nodiscard]] friend constexpr bool operator==(const SoaIterator& one,
                                                   const SoaIterator& other) noexcept {
        return one.row_ == other.row_;
    }
    [[nodiscard]] friend constexpr std::strong_ordering operator<=>(const SoaIterator& one,
                                                                    const SoaIterator& other) noexcept {
        return one.row_ <=> other.row_;
    }

private:
    std::tuple<Ts*...> columns_{};
    std::ptrdiff_t row_ = 0;
};

}  // namespace ouro
