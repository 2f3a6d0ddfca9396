// Walks by rules beside those of the compiler's unwinder.
#include "frame_kinds.hpp"
#include "linux/caller_list.hpp"
#include "linux/stack_bounds.hpp"
#include "walk_both.hpp"

#include <ouro/base/random.hpp>
#include <ouro/os/stack_trace.hpp>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <thread>

#include <gtest/gtest.h>
#include <search.h>

namespace {

namespace os = ouro::os;
using os::testing_support::are_the_same;
using os::testing_support::BothWalks;
using os::testing_support::FrameChain;
using os::testing_support::FrameChainStart;
using os::testing_support::walk_both;

constexpr std::array<FrameChainStart, 3> kBuilds{os::testing_support::go_on_unoptimized,
                                                 os::testing_support::go_on_optimized,
                                                 os::testing_support::go_on_with_frame_pointers};

void look(void* argument) {
    *static_cast<BothWalks*>(argument) = walk_both();
}

TEST(RuleWalk, FindsCallersWithAllKindsOfFrames) {
    constexpr std::uint64_t kSeed = 7;
    for (std::uint64_t round = 0; round < 300; ++round) {
        SCOPED_TRACE(testing::Message() << "seed " << kSeed << ", round " << round);
        std::vector<std::uint8_t> kinds(1 + ouro::random_at(kSeed, round, 0) % 60);
        for (std::size_t i = 0; i < kinds.size(); ++i)
            kinds[i] = static_cast<std::uint8_t>(ouro::random_at(kSeed, round, i + 1));
        BothWalks walks;
        FrameChain chain{.kinds = kinds, .last = look, .argument = &walks};
        kBuilds[round % kBuilds.size()](chain);
        ASSERT_TRUE(are_the_same(walks, 2 * kinds.size()));
    }
}

TEST(RuleWalk, FindsEachKindByItself) {
    for (const FrameChainStart start : kBuilds) {
        for (std::uint8_t kind = 0; kind < 9; ++kind) {
            SCOPED_TRACE(testing::Message() << "kind " << int{kind});
            const std::array<std::uint8_t, 3> kinds{kind, kind, kind};
            BothWalks walks;
            FrameChain chain{.kinds = kinds, .last = look, .argument = &walks};
            start(chain);
            EXPECT_TRUE(are_the_same(walks, 6));
        }
    }
}

BothWalks walks_of_libc;
int compare_and_look(const void* left, const void* right) {
    walks_of_libc = walk_both();
    return *static_cast<const int*>(left) - *static_cast<const int*>(right);
}

// The C library has no frame pointers.
TEST(RuleWalk, FindsCallersThroughTheCLibrary) {
    std::array<int, 20> numbers{5, 3, 9, 1, 7, 2, 8, 4, 6, 0, 15, 13, 19, 11, 17, 12, 18, 14, 16, 10};
    std::qsort(numbers.data(), numbers.size(), sizeof(int), compare_and_look);
    EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end()));
    EXPECT_TRUE(are_the_same(walks_of_libc, 4));
    const int wanted = 7;
    walks_of_libc = {};
    EXPECT_NE(std::bsearch(&wanted, numbers.data(), numbers.size(), sizeof(int), compare_and_look), nullptr);
    EXPECT_TRUE(are_the_same(walks_of_libc, 3));
    void* tree = nullptr;
    for (const int& number : numbers)
        ::tsearch(&number, &tree, compare_and_look);
    EXPECT_TRUE(are_the_same(walks_of_libc, 3));
    ::tdestroy(tree, [](void*) { walks_of_libc = walk_both(); });
    EXPECT_TRUE(are_the_same(walks_of_libc, 4));
}

TEST(RuleWalk, EndsWhereAThreadStarted) {
    BothWalks walks;
    std::thread([&] {
        const std::array<std::uint8_t, 4> kinds{1, 3, 5, 7};
        FrameChain chain{.kinds = kinds, .last = look, .argument = &walks};
        os::testing_support::go_on_optimized(chain);
    }).join();
    EXPECT_TRUE(are_the_same(walks, 9));
}

BothWalks walks_of_signal;
std::array<void*, 64> captured_in_signal;
std::size_t count_in_signal = 0;
void handle_signal(int) {
    walks_of_signal = walk_both();
    count_in_signal = os::capture_callers(captured_in_signal, nullptr);
}

// The frame of a signal takes more than a rule: the stack is the unwinder's, from the handler on.
TEST(RuleWalk, LeavesTheFramesOfSignalsToTheUnwinder) {
    struct sigaction action = {};
    struct sigaction before = {};
    action.sa_handler = handle_signal;
    ASSERT_EQ(::sigaction(SIGUSR1, &action, &before), 0);
    ASSERT_EQ(::raise(SIGUSR1), 0);
    ASSERT_EQ(::sigaction(SIGUSR1, &before, nullptr), 0);
    EXPECT_FALSE(walks_of_signal.is_by_rules);
    ASSERT_EQ(count_in_signal, walks_of_signal.unwinder.size());
    // The first one is where each of the two calls returns to.
    for (std::size_t i = 1; i < count_in_signal; ++i)
        EXPECT_EQ(captured_in_signal[i], walks_of_signal.unwinder[i]) << i;
    EXPECT_GT(count_in_signal, 4U);
}

[[gnu::noinline]] void look_below_a_huge_frame(BothWalks& walks) {
    std::array<char, std::size_t{400} << 10> locals;
    asm volatile("" : : "r"(locals.data()) : "memory");
    walks = walk_both();
    asm volatile("" : : "r"(locals.data()) : "memory");
}

// Not a rule's, or one from the frame pointer; right in both cases.
TEST(RuleWalk, CapturesBelowFramesTooLargeForARule) {
    BothWalks walks;
    look_below_a_huge_frame(walks);
    if (walks.is_by_rules) {
        EXPECT_TRUE(are_the_same(walks, 3));
    } else {
        EXPECT_GE(walks.unwinder.size(), 3U);
    }
}

// As if rules or the stack were wrong: a walk may find anything then, but reads the stack only and ends.
TEST(RuleWalk, EndsFromWhereverItBegins) {
    constexpr std::uint64_t kSeed = 11;
    const BothWalks here = walk_both();
    ASSERT_TRUE(are_the_same(here, 2));
    auto* const frame = static_cast<std::uintptr_t*>(__builtin_frame_address(0));
    const auto own = reinterpret_cast<std::uintptr_t>(frame);
    const os::StackBounds bounds = os::bounds_around(own);
    ASSERT_TRUE(bounds.contain(own));
    std::array<void*, 64> frames;
    for (std::uint64_t round = 0; round < 100'000; ++round) {
        SCOPED_TRACE(testing::Message() << "seed " << kSeed << ", round " << round);
        const auto draw = [&](std::uint64_t number) { return ouro::random_at(kSeed, round, number); };
        const std::uintptr_t stack = own + draw(0) % (bounds.high - own) / 8 * 8;
        const std::array<std::uintptr_t, 5> frame_pointers{draw(1), 0, stack + draw(1) % 4096,
                                                           bounds.high - draw(1) % 32,
                                                           ~std::uintptr_t{0} - draw(1) % 64};
        const auto known = reinterpret_cast<std::uintptr_t>(here.rules[draw(3) % here.rules.size()]);
        os::CallerList list(frames, draw(2) % 2 == 0 ? reinterpret_cast<void*>(known) : frames.data());
        static_cast<void>(os::walk_by_rules({.address = known + draw(4) % 2 * (draw(4) % 64),
                                             .stack = stack + draw(5) % 2 * (draw(6) % 8),
                                             .frame = frame_pointers[draw(7) % frame_pointers.size()]},
                                            list));
        ASSERT_LE(list.count(), frames.size());
    }
}

}  // namespace
