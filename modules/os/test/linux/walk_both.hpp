#pragma once

#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

namespace ouro::os::testing_support {

// The callers of this function's caller, found in both ways.
struct BothWalks {
    // Whether the rules were enough; what they found is empty otherwise.
    bool is_by_rules = false;
    std::vector<void*> rules;
    std::vector<void*> unwinder;
};
[[gnu::noinline]] BothWalks walk_both(std::size_t most = 512);

// Succeeds when rules were enough and both found the same, of at least so many callers.
[[nodiscard]] testing::AssertionResult are_the_same(const BothWalks& walks, std::size_t least = 1);

}  // namespace ouro::os::testing_support
