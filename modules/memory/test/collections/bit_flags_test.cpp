#include <ouro/memory/collections/bit_flags.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <ranges>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

namespace {

enum class Trait : std::uint8_t { hungry, asleep, ill, last = 31 };
enum class Wide : std::uint8_t { first, last = 63 };
using ouro::BitFlags;
using Traits = BitFlags<Trait>;

static_assert(std::ranges::forward_range<Traits>);
static_assert(sizeof(Traits) == 4 && sizeof(BitFlags<Trait, std::uint64_t>) == 8);
static_assert(std::is_trivially_copyable_v<Traits> && std::has_unique_object_representations_v<Traits>);
static_assert(!std::is_convertible_v<Wide, Traits> && !std::is_convertible_v<int, Traits>);

// All of it at compile time.
constexpr Traits kSome{Trait::hungry, Trait::ill};
static_assert(kSome.has(Trait::hungry) && !kSome.has(Trait::asleep) && kSome.count() == 2);
static_assert((kSome | Trait::last).word() == 0x80000005U);
static_assert((kSome & Trait::ill) == Traits(Trait::ill) && (kSome - Trait::ill) == Traits(Trait::hungry));
static_assert((kSome ^ Traits{Trait::ill, Trait::asleep}) == Traits{Trait::hungry, Trait::asleep});
static_assert(kSome.has_all({Trait::hungry, Trait::ill}) && !kSome.has_all({Trait::hungry, Trait::asleep}));
static_assert(kSome.has_any({Trait::asleep, Trait::ill}) && !kSome.has_any(Trait::asleep));
static_assert(Traits().empty() && Traits::from_word(5) == kSome);

TEST(BitFlags, Change) {
    BitFlags<Wide, std::uint64_t> flags;
    flags.set(Wide::last);
    EXPECT_EQ(flags.word(), std::uint64_t{1} << 63);
    flags.flip({Wide::first, Wide::last});
    EXPECT_EQ(flags.word(), 1U);
    flags.assign(Wide::last, true);
    flags.assign(Wide::first, false);
    EXPECT_TRUE(flags.has(Wide::last));
    EXPECT_EQ(flags.count(), 1U);
    flags.clear(Wide::last);
    EXPECT_TRUE(flags.empty());
    flags.set(Wide::first);
    flags.clear_all();
    EXPECT_TRUE(flags.empty());
}

TEST(BitFlags, IterateLowestFirst) {
    const Traits flags{Trait::last, Trait::hungry, Trait::ill};
    const std::vector<Trait> expected{Trait::hungry, Trait::ill, Trait::last};
    EXPECT_TRUE(std::ranges::equal(flags, expected));
    EXPECT_EQ(std::ranges::distance(Traits()), 0);
    const BitFlags<Trait, std::uint8_t> narrow{Trait::asleep, Trait::ill};
    EXPECT_EQ(std::ranges::distance(narrow), 2);
}

}  // namespace
