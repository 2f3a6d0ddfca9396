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

// The same, with calls of one(row) for rows that stand alone. Many of those are found before the first is
// called with: where bits are few, looking for them and what is done with them do not wait for each other.
template <class WordAt, class Run, class One>
void visit_set_rows(std::uint32_t begin, std::uint32_t end, WordAt&& word_at, Run&& run, One&& one) {
    constexpr std::uint32_t kRoom = 128;
    std::uint32_t rows[kRoom + 2];
    std::uint32_t count = 0;
    const auto call = [&] {
        for (std::uint32_t i = 0; i < count; ++i)
            one(rows[i]);
        count = 0;
    };
    for (std::uint32_t word = begin / 64; word * 64 < end; ++word) {
        std::uint64_t bits = word_at(word);
        const std::uint32_t base = word * 64;
        if (base < begin) bits &= ~std::uint64_t{0} << (begin - base);
        if (end - base < 64) bits &= ~(~std::uint64_t{0} << (end - base));
        // Two at most, without a branch that nobody can foresee.
        const std::uint64_t rest = bits & (bits - 1);
        if ((rest & (rest - 1)) == 0) [[likely]] {
            constexpr std::uint64_t kLast = std::uint64_t{1} << 63;
            rows[count] = base + static_cast<std::uint32_t>(std::countr_zero(bits | kLast));
            count += bits != 0 ? 1 : 0;
            rows[count] = base + static_cast<std::uint32_t>(std::countr_zero(rest | kLast));
            count += rest != 0 ? 1 : 0;
            if (count >= kRoom) call();
            continue;
        }
        call();
        visit_set_runs(base, base + 64, [&](std::uint32_t) { return bits; }, run);
    }
    call();
}

}  // namespace ouro::detail
