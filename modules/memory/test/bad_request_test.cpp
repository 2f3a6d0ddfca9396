// One answer to one bad question, whoever is asked.
#include "bad_requests.hpp"
#include "composition.hpp"

#include <string>

#include <gtest/gtest.h>

namespace {

using ouro::check_allocation;
using ouro::Status;
using ouro::testing_support::BadRequest;
using ouro::testing_support::campaign_table;
using ouro::testing_support::Composition;
using ouro::testing_support::composition_label;
using ouro::testing_support::kBadRequests;

constexpr std::size_t kBytes = std::size_t{4} << 20;

class BadRequests : public testing::TestWithParam<std::string> {
protected:
    void SetUp() override { ASSERT_TRUE(built_.is_built()); }

    Composition built_{GetParam(), kBytes};
};

TEST_P(BadRequests, HaveTheStatusOfTheContractAndChangeNothing) {
    ouro::testing_support::expect_bad_requests_refused(built_.resource());
}

TEST_P(BadRequests, TheLargestSizeThatIsNoneIsAShortage) {
    ouro::testing_support::expect_shortage_of_the_largest(built_.resource());
}

TEST_P(BadRequests, TheLargestAlignmentIsNone) {
    if (built_.traits().max_alignment < 4096) return;
    const auto block = built_.resource().allocate(16, ouro::kMaxAlignment);
    if (block) built_.resource().deallocate(*block, ouro::kMaxAlignment);
    EXPECT_NE(block.status(), Status::bad_alignment);
    EXPECT_EQ(built_.resource().check(), Status::ok);
}

INSTANTIATE_TEST_SUITE_P(Compositions, BadRequests, testing::ValuesIn(campaign_table()),
                         [](const testing::TestParamInfo<std::string>& test) {
                             return composition_label(test.param);
                         });

TEST(CheckAllocation, IsTheRule) {
    for (const BadRequest& bad : kBadRequests)
        EXPECT_EQ(check_allocation(bad.size, bad.alignment), bad.status)
            << bad.size << " bytes at a multiple of " << bad.alignment;
    for (std::size_t alignment = 1; alignment <= ouro::kMaxAlignment; alignment *= 2) {
        EXPECT_EQ(check_allocation(1, alignment), Status::ok);
        EXPECT_EQ(check_allocation(ouro::kMaxAllocationBytes, alignment), Status::ok);
    }
    static_assert(check_allocation(16, 16) == Status::ok);
}

}  // namespace
