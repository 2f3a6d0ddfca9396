#include <ouro/base/align.hpp>
#include <ouro/memory/block_registry.hpp>
#include <ouro/memory/node_replicas.hpp>
#include <ouro/memory/seal.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::Expected;
using ouro::MemoryBlock;
using ouro::NodeReplicas;
using ouro::Status;
namespace os = ouro::os;

// A machine with several nodes, as far as the replicas can see.
struct Machine {
    unsigned nodes = 1;
    unsigned current = 0;
    unsigned asked = 0;
    // Nodes that nothing can be bound to.
    unsigned refused_nodes = 0;
    Status refusal = Status::no_such_node;
    std::vector<MemoryBlock> bound;
};
Machine machine;

const NodeReplicas::Nodes kMachine = {
    .count = []() noexcept { return machine.nodes; },
    .current =
        []() noexcept {
            ++machine.asked;
            return machine.current;
        },
    .bind = [](MemoryBlock block, unsigned node) noexcept -> Expected<os::NumaOutcome> {
        if ((machine.refused_nodes >> node & 1U) != 0) return machine.refusal;
        machine.bound.push_back(block);
        return os::NumaOutcome::bound;
    }};

std::span<const std::byte> bytes_of(std::string_view text) {
    return std::as_bytes(std::span(text));
}
std::string_view text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class NodeReplicasTest : public testing::Test {
protected:
    void SetUp() override {
        machine = {};
        NodeReplicas::forget_node_of_this_thread();
    }
    void TearDown() override { NodeReplicas::forget_node_of_this_thread(); }

    static void move_to(unsigned node) {
        machine.current = node;
        NodeReplicas::forget_node_of_this_thread();
    }
};

TEST_F(NodeReplicasTest, OneNodeHasOneCopyAndSaysSo) {
    const auto replicas = NodeReplicas::create(bytes_of("prices"), {}, kMachine);
    ASSERT_TRUE(replicas);
    EXPECT_EQ(replicas->count(), 1U);
    EXPECT_FALSE(replicas->is_replicated());
    EXPECT_EQ(replicas->reason(), Status::ok);
    EXPECT_TRUE(machine.bound.empty());
    EXPECT_EQ(text_of(replicas->local()), "prices");
    EXPECT_EQ(machine.asked, 0U);
}

TEST_F(NodeReplicasTest, ThisMachineHasACopyForEachOfItsNodes) {
    const auto replicas = NodeReplicas::create(bytes_of("prices"), {});
    ASSERT_TRUE(replicas);
    EXPECT_EQ(text_of(replicas->local()), "prices");
    // A node without a copy of its own, for which there is a reason, reads the first.
    const unsigned nodes = std::min(os::numa_node_count(), NodeReplicas::kMaxNodes);
    std::set<const std::byte*> copies;
    for (unsigned node = 0; node < nodes; ++node) {
        EXPECT_EQ(text_of(replicas->copy_of(node)), "prices") << node;
        copies.insert(replicas->copy_of(node).data());
    }
    EXPECT_EQ(replicas->count(), copies.size());
    if (replicas->reason() == Status::ok) {
        EXPECT_EQ(copies.size(), nodes);
    }
    EXPECT_EQ(copies.count(replicas->local().data()), 1U);
}

TEST_F(NodeReplicasTest, EveryNodeReadsItsOwnCopy) {
    machine.nodes = 3;
    const auto replicas = NodeReplicas::create(bytes_of("prices"), {}, kMachine);
    ASSERT_TRUE(replicas);
    EXPECT_EQ(replicas->count(), 3U);
    EXPECT_TRUE(replicas->is_replicated());
    ASSERT_EQ(machine.bound.size(), 3U);
    for (unsigned node = 0; node < 3; ++node) {
        move_to(node);
        EXPECT_EQ(replicas->local().data(), machine.bound[node].data);
        EXPECT_EQ(replicas->local().data(), replicas->copy_of(node).data());
        EXPECT_EQ(text_of(replicas->local()), "prices");
        EXPECT_EQ(machine.bound[node].size, os::page_size());
        for (unsigned other = 0; other < node; ++other)
            EXPECT_FALSE(machine.bound[node].overlaps(machine.bound[other]));
    }
}

TEST_F(NodeReplicasTest, ANodeIsAskedForNowAndThenOnly) {
    machine.nodes = 2;
    const auto replicas = NodeReplicas::create(bytes_of("prices"), {}, kMachine);
    ASSERT_TRUE(replicas);
    const std::byte* const first = replicas->local().data();
    machine.current = 1;
    unsigned reads = 1;
    while (replicas->local().data() == first && reads < 1'000'000)
        ++reads;
    EXPECT_EQ(replicas->local().data(), replicas->copy_of(1).data());
    EXPECT_GT(reads, 1000U);
    EXPECT_EQ(machine.asked, 2U);
}

TEST_F(NodeReplicasTest, WhatCannotBeBoundReadsTheFirstCopy) {
    machine.nodes = 4;
    machine.refused_nodes = 0b0101;
    const auto replicas = NodeReplicas::create(bytes_of("prices"), {}, kMachine);
    ASSERT_TRUE(replicas);
    EXPECT_EQ(replicas->count(), 2U);
    EXPECT_EQ(replicas->reason(), Status::no_such_node);
    const auto first = replicas->copy_of(0).data();
    EXPECT_EQ(replicas->copy_of(2).data(), first);
    EXPECT_EQ(replicas->copy_of(1).data(), first);
    EXPECT_NE(replicas->copy_of(3).data(), first);
    // Neither a node that nobody announced.
    move_to(1000);
    EXPECT_EQ(replicas->local().data(), first);

    machine.refused_nodes = 0b1111;
    machine.refusal = Status::permission_denied;
    const auto none = NodeReplicas::create(bytes_of("prices"), {}, kMachine);
    ASSERT_TRUE(none);
    EXPECT_EQ(none->count(), 1U);
    EXPECT_FALSE(none->is_replicated());
    EXPECT_EQ(none->reason(), Status::permission_denied);
    EXPECT_EQ(text_of(none->local()), "prices");
}

TEST_F(NodeReplicasTest, AnUpdateReachesEveryCopy) {
    machine.nodes = 2;
    auto replicas = NodeReplicas::create(bytes_of("old prices"), {}, kMachine);
    ASSERT_TRUE(replicas);
    EXPECT_EQ(replicas->update(0, bytes_of("new")), Status::ok);
    EXPECT_EQ(replicas->update(10, {}), Status::ok);
    for (unsigned node = 0; node < 2; ++node)
        EXPECT_EQ(text_of(replicas->copy_of(node)), "new prices");
    EXPECT_EQ(replicas->update(8, bytes_of("new")), Status::out_of_range);
    EXPECT_EQ(replicas->update(11, {}), Status::out_of_range);
    EXPECT_EQ(replicas->update(SIZE_MAX, bytes_of("new")), Status::out_of_range);
    EXPECT_EQ(text_of(replicas->local()), "new prices");
}

TEST_F(NodeReplicasTest, LargeBlocksAndTypes) {
    struct Table {
        std::array<std::uint64_t, 5000> numbers;
    };
    static Table table;
    for (std::size_t i = 0; i < table.numbers.size(); ++i)
        table.numbers[i] = i * i;
    machine.nodes = 2;
    auto made = NodeReplicas::create(std::as_bytes(std::span(&table, 1)), {.name = "squares"}, kMachine);
    ASSERT_TRUE(made);
    const NodeReplicas replicas = *std::move(made);
    for (unsigned node = 0; node < 2; ++node) {
        move_to(node);
        EXPECT_EQ(replicas.local_as<Table>().numbers, table.numbers);
    }
    bool is_listed = false;
    ouro::visit_blocks([&](const ouro::BlockInfo& block) {
        if (block.name() != "squares") return;
        is_listed = true;
        EXPECT_EQ(block.committed_bytes, 2 * ouro::align_up(sizeof(Table), os::page_size()));
    });
    EXPECT_TRUE(is_listed);
}

TEST_F(NodeReplicasTest, RefusesWhatMakesNoSense) {
    EXPECT_EQ(NodeReplicas::create({}, {}).status(), Status::zero_size);
    const ouro::SealScope sealed;
    EXPECT_EQ(NodeReplicas::create(bytes_of("prices"), {}).status(), Status::sealed);
}

}  // namespace
