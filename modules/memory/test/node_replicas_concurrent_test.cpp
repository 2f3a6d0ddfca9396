// Readers on two pretended nodes, and one writer that writes while they wait.
#include <ouro/memory/node_replicas.hpp>
#include <ouro/os/thread.hpp>

#include <array>
#include <atomic>

#include <gtest/gtest.h>

namespace {

using ouro::Expected;
using ouro::NodeReplicas;
using ouro::Status;
namespace os = ouro::os;

constexpr unsigned kReaders = 3;
constexpr std::uint64_t kRounds = 200;
using Table = std::array<std::uint64_t, 1000>;

std::atomic<unsigned> next_node{0};

const NodeReplicas::Nodes kTwoNodes = {
    .count = []() noexcept { return 2U; },
    .current = []() noexcept { return next_node.fetch_add(1) % 2; },
    .bind = [](ouro::MemoryBlock, unsigned) noexcept -> Expected<os::NumaOutcome> {
        return os::NumaOutcome::bound;
    }};

struct Shared {
    NodeReplicas& replicas;
    // The round that may be read, and how many have read it.
    std::atomic<std::uint64_t> round{0};
    std::atomic<unsigned> done{0};
    std::atomic<unsigned> mistakes{0};
};

void read_rounds(void* argument) {
    auto& shared = *static_cast<Shared*>(argument);
    for (std::uint64_t round = 1; round <= kRounds; ++round) {
        while (shared.round.load(std::memory_order_acquire) < round)
            os::yield_thread();
        NodeReplicas::forget_node_of_this_thread();
        for (const std::uint64_t number : shared.replicas.local_as<Table>()) {
            if (number != round) shared.mistakes.fetch_add(1);
        }
        shared.done.fetch_add(1, std::memory_order_release);
    }
}

TEST(NodeReplicasConcurrent, ReadersSeeWhatWasWrittenBetweenTheirRounds) {
    static Table table{};
    auto replicas = NodeReplicas::create(std::as_bytes(std::span(table)), {}, kTwoNodes);
    ASSERT_TRUE(replicas);
    ASSERT_EQ(replicas->count(), 2U);
    Shared shared{.replicas = *replicas};
    std::array<os::Thread, kReaders> readers;
    for (os::Thread& reader : readers)
        reader = *os::Thread::start(read_rounds, &shared, {.name = "reader"});
    for (std::uint64_t round = 1; round <= kRounds; ++round) {
        table.fill(round);
        ASSERT_EQ(replicas->update(0, std::as_bytes(std::span(table))), Status::ok);
        shared.round.store(round, std::memory_order_release);
        while (shared.done.load(std::memory_order_acquire) < kReaders * round)
            os::yield_thread();
    }
    for (os::Thread& reader : readers)
        reader.join();
    EXPECT_EQ(shared.mistakes.load(), 0U);
}

}  // namespace
