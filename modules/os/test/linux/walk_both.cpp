#include "walk_both.hpp"

#include "linux/caller_list.hpp"

#include <cstdint>

namespace ouro::os::testing_support {

BothWalks walk_both(std::size_t most) {
    const auto* const frame = static_cast<const std::uintptr_t*>(__builtin_frame_address(0));
    void* const caller = __builtin_return_address(0);
    BothWalks walks{.rules = std::vector<void*>(most), .unwinder = std::vector<void*>(most)};
    CallerList by_rules(walks.rules, caller);
    walks.is_by_rules = walk_by_rules({.address = reinterpret_cast<std::uintptr_t>(caller),
                                       .stack = reinterpret_cast<std::uintptr_t>(frame + 2),
                                       .frame = *frame},
                                      by_rules);
    walks.rules.resize(walks.is_by_rules ? by_rules.count() : 0);
    CallerList by_unwinder(walks.unwinder, caller);
    walk_by_unwinder(by_unwinder);
    walks.unwinder.resize(by_unwinder.count());
    return walks;
}

testing::AssertionResult are_the_same(const BothWalks& walks, std::size_t least) {
    if (!walks.is_by_rules) return testing::AssertionFailure() << "rules were not enough";
    if (walks.rules != walks.unwinder) {
        auto failure = testing::AssertionFailure();
        failure << "rules / unwinder:";
        for (std::size_t i = 0; i < std::max(walks.rules.size(), walks.unwinder.size()); ++i) {
            failure << "\n  " << (i < walks.rules.size() ? walks.rules[i] : nullptr) << " / "
                    << (i < walks.unwinder.size() ? walks.unwinder[i] : nullptr);
        }
        return failure;
    }
    if (walks.rules.size() < least)
        return testing::AssertionFailure() << "only " << walks.rules.size() << " callers";
    return testing::AssertionSuccess();
}

}  // namespace ouro::os::testing_support
