// Threads that fill the common table of rules at once, while a library comes and goes.
#include "frame_kinds.hpp"
#include "walk_both.hpp"

#include <ouro/base/random.hpp>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <gtest/gtest.h>

namespace {

namespace os = ouro::os;
using os::testing_support::are_the_same;
using os::testing_support::BothWalks;
using os::testing_support::FrameChain;

void look(void* argument) {
    *static_cast<BothWalks*>(argument) = os::testing_support::walk_both();
}

void walk_random_stacks(std::uint64_t seed, std::uint64_t thread, std::uint64_t rounds) {
    for (std::uint64_t round = 0; round < rounds; ++round) {
        SCOPED_TRACE(testing::Message() << "seed " << seed << ", thread " << thread << ", round " << round);
        const std::uint64_t stream = thread << 32 | round;
        std::vector<std::uint8_t> kinds(1 + ouro::random_at(seed, stream, 0) % 30);
        for (std::size_t i = 0; i < kinds.size(); ++i)
            kinds[i] = static_cast<std::uint8_t>(ouro::random_at(seed, stream, i + 1));
        BothWalks walks;
        FrameChain chain{.kinds = kinds, .last = look, .argument = &walks};
        if (round % 2 == 0)
            os::testing_support::go_on_optimized(chain);
        else
            os::testing_support::go_on_with_frame_pointers(chain);
        ASSERT_TRUE(are_the_same(walks, 2 * kinds.size()));
    }
}

using CallThrough = void (*)(void (*)(void*), void*);

void walk_through_modules(int rounds) {
    for (int round = 0; round < rounds; ++round) {
        const char* const path = round % 2 == 0 ? OURO_FRAME_MODULE_24 : OURO_FRAME_MODULE_56;
        void* const library = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
        ASSERT_NE(library, nullptr) << ::dlerror();
        void* const function = ::dlsym(library, "ouro_test_call_through");
        ASSERT_NE(function, nullptr);
        BothWalks walks;
        reinterpret_cast<CallThrough>(function)(look, &walks);
        ASSERT_TRUE(are_the_same(walks, 3)) << round;
        ASSERT_EQ(::dlclose(library), 0);
    }
}

TEST(RuleWalk, IsRightInThreadsThatWalkAtOnce) {
    constexpr std::uint64_t kSeed = 21;
    constexpr std::uint64_t kThreads = 4;
    std::vector<std::thread> threads;
    for (std::uint64_t thread = 0; thread < kThreads; ++thread)
        threads.emplace_back([=] { walk_random_stacks(kSeed, thread, 200); });
    threads.emplace_back([] { walk_through_modules(100); });
    for (std::thread& thread : threads)
        thread.join();
}

}  // namespace
