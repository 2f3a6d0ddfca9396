#include "strict_resource.hpp"

#include <ouro/base/random.hpp>
#include <ouro/memory/collections/spsc_ring.hpp>
#include <ouro/os/thread.hpp>

#include <array>
#include <cstdint>
#include <memory>

#include <gtest/gtest.h>

namespace {

using ouro::Random;
using ouro::SpscRing;
using ouro::Status;
using ouro::testing_support::StrictResource;

constexpr std::uint32_t kMessages = 200'000;

// What is sent carries a pointer to memory that the producer wrote plainly: reading it on the other side is a
// race unless the ring orders it.
struct Message {
    std::uint32_t number;
    std::unique_ptr<std::uint32_t> payload;
};

struct Lane {
    SpscRing<Message> ring;
    std::uint32_t received = 0;
    bool in_order = true;
};

void consume_messages(void* argument) {
    auto& lane = *static_cast<Lane*>(argument);
    while (lane.received < kMessages) {
        auto message = lane.ring.pop();
        if (!message) {
            ouro::os::yield_thread();
            continue;
        }
        lane.in_order &= message->number == lane.received && *message->payload == lane.received * 3;
        ++lane.received;
    }
}

TEST(SpscRingConcurrent, EveryMessageArrivesInOrder) {
    for (const std::size_t capacity : {1U, 3U, 64U}) {
        StrictResource heap;
        Lane lane{*SpscRing<Message>::create(heap, capacity)};
        auto consumer = ouro::os::Thread::start(consume_messages, &lane);
        ASSERT_TRUE(consumer);
        for (std::uint32_t i = 0; i < kMessages;) {
            Message message{i, std::make_unique<std::uint32_t>(i * 3)};
            while (lane.ring.push(std::move(message)) != Status::ok)
                ouro::os::yield_thread();
            ++i;
        }
        consumer->join();
        EXPECT_EQ(lane.received, kMessages);
        EXPECT_TRUE(lane.in_order);
        EXPECT_TRUE(lane.ring.empty());
    }
}

struct NumberLane {
    SpscRing<std::uint32_t> ring;
    std::uint32_t received = 0;
    bool in_order = true;
};

void consume_numbers(void* argument) {
    auto& lane = *static_cast<NumberLane*>(argument);
    Random random(2);
    std::array<std::uint32_t, 50> numbers{};
    while (lane.received < kMessages) {
        const std::size_t wanted = 1 + random.below(numbers.size());
        const std::size_t count = lane.ring.pop_some({numbers.data(), wanted});
        for (std::size_t i = 0; i < count; ++i)
            lane.in_order &= numbers[i] == lane.received++;
        if (count == 0) ouro::os::yield_thread();
    }
}

TEST(SpscRingConcurrent, BatchesOfAnySizeArriveInOrder) {
    StrictResource heap;
    NumberLane lane{*SpscRing<std::uint32_t>::create(heap, 100)};
    auto consumer = ouro::os::Thread::start(consume_numbers, &lane);
    ASSERT_TRUE(consumer);
    Random random(1);
    std::array<std::uint32_t, 70> numbers{};
    for (std::uint32_t sent = 0; sent < kMessages;) {
        const std::uint32_t wanted =
            std::min<std::uint32_t>(1 + random.below(numbers.size()), kMessages - sent);
        for (std::uint32_t i = 0; i < wanted; ++i)
            numbers[i] = sent + i;
        const std::size_t pushed = lane.ring.push_some({numbers.data(), wanted});
        sent += static_cast<std::uint32_t>(pushed);
        if (pushed == 0) ouro::os::yield_thread();
    }
    consumer->join();
    EXPECT_EQ(lane.received, kMessages);
    EXPECT_TRUE(lane.in_order);
}

}  // namespace
