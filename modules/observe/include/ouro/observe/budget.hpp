#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/memory/rate_limit.hpp>
#include <ouro/memory/tag.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

// How much a tag may use, together with all tags below it. Everything here may be changed at any time, from
// any thread.
//
//     set_budget(default_tags().audio, {.soft_bytes = 48 << 20, .hard_bytes = 64 << 20});
namespace ouro {

inline constexpr std::size_t kNoBudget = ~std::size_t{0};

struct Budget {
    // Passing it raises an event, and nothing else: when the next thread needs credit, at most a 32nd of it
    // and 512 KiB a thread later.
    std::size_t soft_bytes = kNoBudget;
    // A request that would pass it fails with budget_exceeded and raises an event. What is live never passes
    // it, whatever the number of threads.
    std::size_t hard_bytes = kNoBudget;
};

// A hard budget below what is live refuses requests until enough was freed. The untagged one's is that of the
// whole program. Fails with bad_argument: a tag that is not registered, or soft above hard.
Expected<void> set_budget(Tag tag, const Budget& budget) noexcept;
[[nodiscard]] Budget budget_of(Tag tag) noexcept;

// Requests beyond it fail with rate_limited and raise an event. A request counts for the limits that let it
// pass, whether or not one above, or a budget, refuses it then. Fails with bad_argument: a tag that is not
// registered, no interval, no clock, or more than RateGate can count.
Expected<void> set_rate_limit(Tag tag, const RateLimit& limit) noexcept;
void clear_rate_limit(Tag tag) noexcept;

struct BudgetShare {
    Tag tag = {};
    // Of the total.
    std::uint32_t percent = 0;
};

struct SharedBudget {
    std::size_t total_bytes = 0;
    std::span<const BudgetShare> shares{};
    // Where the soft budget of each lies, in percent of its hard one.
    std::uint32_t soft_percent = 90;
};

// The hard budget of each tag is its share; that of the whole program is the total, and what no share takes
// is a reserve for the rest. Fails with bad_argument, and changes nothing then: a tag twice or not
// registered, a sum of more than 100 percent, no total, a soft share above 100 percent.
Expected<void> set_budget_shares(const SharedBudget& budget) noexcept;

// For a game, of 4 GiB for example: creatures 40, world 20, rendering 20, ui 10, audio 5, and so 5 percent in
// reserve.
//
//     set_budget_shares({.total_bytes = std::size_t{4} << 30, .shares = game_budget_shares()});
[[nodiscard]] std::array<BudgetShare, 5> game_budget_shares() noexcept;

}  // namespace ouro
