#include <ouro/os/capabilities.hpp>
#include <ouro/os/kernel_tracker.hpp>
#include <ouro/os/memory_object.hpp>
#include <ouro/os/numa.hpp>
#include <ouro/os/thread.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <gtest/gtest.h>

namespace {

namespace os = ouro::os;

// The report is compared with what the functions it speaks of really do.
TEST(Capabilities, AgreeWithWhatWorks) {
    const os::Capabilities report = os::query_capabilities();
    EXPECT_NE(report.system[0], '\0');
    EXPECT_EQ(report.page_bytes, os::page_size());
    EXPECT_EQ(report.cores, os::core_count());
    EXPECT_EQ(report.numa_nodes, os::numa_node_count());
    EXPECT_EQ(report.kernel_tracking(), os::KernelTracker::create().has_value());
    EXPECT_EQ(report.memory_aliases, os::MemoryObject::create(1, "probe").has_value());
    const auto block = os::reserve({.bytes = os::page_size()});
    ASSERT_TRUE(block);
    ASSERT_TRUE(os::commit(*block));
    EXPECT_EQ(report.page_protection, os::protect(*block, os::Protection::read).has_value());
    ASSERT_TRUE(os::release(*block));
    ASSERT_TRUE(report.memory);
    EXPECT_GE(report.memory->total_bytes, report.memory->available_bytes);
}

TEST(Capabilities, FeaturesHaveNamesOfTheirOwn) {
    const auto features = os::list_features(os::query_capabilities());
    for (std::size_t i = 0; i < features.size(); ++i) {
        ASSERT_FALSE(features[i].name.empty());
        for (std::size_t j = 0; j < i; ++j)
            EXPECT_TRUE(features[i].name != features[j].name);
    }
}

TEST(Capabilities, OneNodeNeedsNoBinding) {
    const auto block = os::reserve({.bytes = os::page_size()});
    ASSERT_TRUE(block);
    EXPECT_EQ(os::bind_to_numa_node(*block, os::numa_node_count()).status(), ouro::Status::no_such_node);
    const auto bound = os::bind_to_numa_node(*block, 0);
    ASSERT_TRUE(bound);
    EXPECT_EQ(*bound == os::NumaOutcome::single_node, os::numa_node_count() == 1);
    EXPECT_LT(os::current_numa_node(), os::numa_node_count());
    ASSERT_TRUE(os::release(*block));
}

}  // namespace
