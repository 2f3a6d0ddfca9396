#pragma once

#include <bit>
#include <cstdint>

namespace ouro::detail {

// Calls with each run of rows, begin and end, whose bit is set in word_at(number of the word), between two
// rows. Runs do not go over a word's end.
template <class WordAt, class Visit>
void visit_set_runs(std::uint32_t begin, std::uint32_t end, WordAt&& word_at, Visit&& visit) {
    for (std::uint32_t word = begin / 64; word * 64 < end; ++word) {
        std::uint64_t bits = word_at(word);
        const std::uint32_t base = word * 64;
        if (base < begin) bits &= ~std::uint64_t{0} << (begin - base);
        if (end - base < 64) bits &= ~(~std::uint64_t{0} << (end - base));
        while (bits != 0) {
            const auto first = static_cast<std::uint32_t>(std::countr_zero(bits));
            const auto length = static_cast<std::uint32_t>(std::countr_one(bits >> first));
            visit(base + first, base + first + length);
            bits = length == 64 ? 0 : bits & ~(~(~std::uint64_t{0} << length) << first);
        }
    }
}

}  // namespace ouro::detail
