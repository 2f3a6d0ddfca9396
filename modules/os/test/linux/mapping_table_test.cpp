#include "mapping_table.hpp"

#include <ouro/os/virtual_memory.hpp>

namespace {

using ouro::os::testing_support::NoMappingLeak;

// The check itself is checked: a mapping left behind shows up, and is gone after its release.
TEST(MappingTable, CatchesALeakedMapping) {
    const NoMappingLeak balanced;
    const auto leaked = ouro::os::reserve({.bytes = 1 << 20});
    ASSERT_TRUE(leaked);
    EXPECT_NE(NoMappingLeak::difference(), "");
    ASSERT_TRUE(ouro::os::release(*leaked));
    EXPECT_EQ(NoMappingLeak::difference(), "");
}

TEST(MappingTable, CatchesAChangedProtection) {
    const auto block = ouro::os::reserve({.bytes = 1 << 20});
    ASSERT_TRUE(block);
    {
        const NoMappingLeak balanced;
        ASSERT_TRUE(ouro::os::commit(*block));
        EXPECT_NE(NoMappingLeak::difference(), "");
        ASSERT_TRUE(ouro::os::decommit(*block));
    }
    ASSERT_TRUE(ouro::os::release(*block));
}

}  // namespace
