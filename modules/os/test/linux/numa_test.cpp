#include "linux/numa_policy.hpp"

#include <ouro/os/numa.hpp>
#include <ouro/os/reservation.hpp>

#include <gtest/gtest.h>

namespace {

using ouro::Status;
namespace os = ouro::os;

TEST(Numa, CountsNodesInTheKernelsList) {
    EXPECT_EQ(os::count_nodes("0\n"), 1U);
    EXPECT_EQ(os::count_nodes("0-3\n"), 4U);
    EXPECT_EQ(os::count_nodes("0,2-5\n"), 6U);
    EXPECT_EQ(os::count_nodes("0,7\n"), 8U);
    EXPECT_EQ(os::count_nodes(""), 1U);
    EXPECT_EQ(os::count_nodes("nonsense"), 1U);
}

TEST(Numa, TheKernelTakesThePolicy) {
    auto memory = os::Reservation::create({.bytes = 4 * os::page_size()});
    ASSERT_TRUE(memory && memory->commit(0, memory->block().size));
    EXPECT_EQ(os::set_memory_policy(memory->block(), 0), Status::ok);
    EXPECT_EQ(os::set_memory_policy(memory->block(), 1000), Status::no_such_node);
    memory->block().data[0] = std::byte{1};
    EXPECT_EQ(os::numa_node_of(memory->block().data).value_or(99U), 0U);
}

TEST(Numa, UntouchedPagesAreOnNoNode) {
    auto memory = os::Reservation::create({.bytes = os::page_size()});
    ASSERT_TRUE(memory && memory->commit(0, os::page_size()));
    EXPECT_EQ(os::numa_node_of(memory->block().data).status(), Status::not_mapped);
    EXPECT_EQ(os::numa_node_of(reinterpret_cast<void*>(16)).status(), Status::not_mapped);
}

}  // namespace
