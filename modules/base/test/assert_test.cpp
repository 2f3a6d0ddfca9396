#include <ouro/base/align.hpp>
#include <ouro/base/assert.hpp>
#include <ouro/base/expected.hpp>
#include <ouro/base/handle.hpp>
#include <ouro/base/offset_ptr.hpp>

#include <string>

#include <gtest/gtest.h>

namespace {

struct Caught {
    std::string message;
};

void throw_failure(const ouro::AssertFailure& failure) {
    throw Caught{failure.message};
}

class Assert : public testing::Test {
protected:
    void SetUp() override { previous_ = ouro::set_assert_handler(throw_failure); }
    void TearDown() override { EXPECT_EQ(ouro::set_assert_handler(previous_), throw_failure); }

private:
    ouro::AssertHandler previous_ = nullptr;
};

TEST_F(Assert, TheHandlerHearsOfAFailure) {
    try {
        OURO_ASSERT(1 + 1 == 3, "arithmetic still works");
        FAIL() << "the assert did not fire";
    } catch (const Caught& caught) {
        EXPECT_EQ(caught.message, "arithmetic still works");
    }
    EXPECT_NO_THROW(OURO_ASSERT(1 + 1 == 2, "arithmetic broke"));
}

TEST_F(Assert, AMessageTellsTheDetailAndIsCutWhereItIsLong) {
    try {
        ouro::assert_failed("", "the value is wrong", "42", "", 1);
    } catch (const Caught& caught) {
        EXPECT_EQ(caught.message, "the value is wrong: 42");
    }
    const std::string long_text(1000, 'x');
    try {
        ouro::assert_failed("", "long", long_text, "", 1);
    } catch (const Caught& caught) {
        EXPECT_GT(caught.message.size(), 100U);
        EXPECT_EQ(caught.message, ("long: " + long_text).substr(0, caught.message.size()));
    }
}

TEST_F(Assert, TiersFireByLevel) {
    int evaluated = 0;
    const auto fails = [&] {
        ++evaluated;
        return false;
    };
    if (OURO_ASSERT_LEVEL >= 1) {
        EXPECT_THROW(OURO_DEBUG_ASSERT(fails(), ""), Caught);
    } else {
        EXPECT_NO_THROW(OURO_DEBUG_ASSERT(fails(), ""));
    }
    if (OURO_ASSERT_LEVEL >= 2) {
        EXPECT_THROW(OURO_EXPENSIVE_ASSERT(fails(), ""), Caught);
    } else {
        EXPECT_NO_THROW(OURO_EXPENSIVE_ASSERT(fails(), ""));
    }
    EXPECT_EQ(evaluated, OURO_ASSERT_LEVEL);
}

TEST(AssertDeath, WithoutAHandlerOfItsOwnTheProcessAborts) {
    EXPECT_DEATH(OURO_ASSERT(false, "a broken contract"), "assertion `false` failed: a broken contract");
}

TEST(AssertDeath, AFailedExpectedHasNoValue) {
    const ouro::Expected<int> failed = ouro::Status::not_found;
    EXPECT_DEATH((void)failed.value(), "the value of a failed Expected was asked for: not_found");
    EXPECT_DEATH((void)ouro::Expected<int>(ouro::Status::ok), "a failure needs a reason");
    const ouro::Expected<ouro::MemoryBlock> no_block = ouro::Status::out_of_memory;
    EXPECT_DEATH((void)*no_block, "the value of a failed Expected was asked for: out_of_memory");
    EXPECT_DEATH((void)ouro::Expected<ouro::MemoryBlock>(ouro::Status::ok), "a failure needs a reason");
}

TEST(AssertDeath, AnOffsetPointerStaysInItsBase) {
    alignas(8) static std::byte image[64];
    static int outside;
    const ouro::ConstOffsetBase base(image, sizeof(image));
    EXPECT_DEATH((void)ouro::OffsetPtr<int>::to(&outside, base), "points into its base");
    const auto* first = reinterpret_cast<const int*>(image);
    EXPECT_DEATH((void)ouro::OffsetPtr<int>::to(first, base), "points into its base");
}

}  // namespace
