#include "strict_resource.hpp"

#include <ouro/base/random.hpp>
#include <ouro/memory/collections/spsc_ring.hpp>
#include <ouro/os/thread.hpp>

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::Random;
using ouro::SpscRing;
using ouro::Status;
using ouro::testing_support::StrictResource;

// Spins, and now and then lets others run: some platforms sleep when they yield, which with a ring of one
// slot every message would pay for.
class Patience {
public:
    void wait() noexcept {
        if (++waits_ % 256 == 0) {
            ouro::os::yield_thread();
        } else {
            ouro::os::spin_pause();
        }
    }

private:
    std::uint32_t waits_ = 0;
};

// What is sent points to memory that the producer wrote plainly: reading it on the other side is a race
// unless the ring orders it. Can only be moved.
struct Message {
    Message(std::uint32_t index, const std::uint32_t* written) noexcept : number(index), payload(written) {}
    Message(Message&& other) noexcept
        : number(other.number), payload(std::exchange(other.payload, nullptr)) {}
    Message& operator=(Message&&) = delete;

    std::uint32_t number;
    const std::uint32_t* payload;
};

struct Lane {
    SpscRing<Message> ring;
    std::uint32_t messages;
    std::uint32_t received = 0;
    bool in_order = true;
};

void consume_messages(void* argument) {
    auto& lane = *static_cast<Lane*>(argument);
    Patience patience;
    while (lane.received < lane.messages) {
        auto message = lane.ring.pop();
        if (!message) {
            patience.wait();
            continue;
        }
        lane.in_order &= message->number == lane.received && *message->payload == lane.received * 3;
        ++lane.received;
    }
}

TEST(SpscRingConcurrent, EveryMessageArrivesInOrder) {
    for (const std::size_t capacity : {1U, 3U, 64U}) {
        StrictResource heap;
        const auto messages = static_cast<std::uint32_t>(1'000 * capacity);
        Lane lane{*SpscRing<Message>::create(heap, capacity), messages};
        auto consumer = ouro::os::Thread::start(consume_messages, &lane);
        ASSERT_TRUE(consumer);
        Patience patience;
        std::vector<std::uint32_t> payloads(messages);
        for (std::uint32_t i = 0; i < messages; ++i) {
            payloads[i] = i * 3;
            Message message(i, &payloads[i]);
            while (lane.ring.push(std::move(message)) != Status::ok)
                patience.wait();
        }
        consumer->join();
        EXPECT_EQ(lane.received, messages);
        EXPECT_TRUE(lane.in_order);
        EXPECT_TRUE(lane.ring.empty());
    }
}

constexpr std::uint32_t kNumbers = 200'000;

struct NumberLane {
    SpscRing<std::uint32_t> ring;
    std::uint32_t received = 0;
    bool in_order = true;
};

void consume_numbers(void* argument) {
    auto& lane = *static_cast<NumberLane*>(argument);
    Random random(2);
    Patience patience;
    std::array<std::uint32_t, 50> numbers{};
    while (lane.received < kNumbers) {
        const std::size_t wanted = 1 + random.below(numbers.size());
        const std::size_t count = lane.ring.pop_some({numbers.data(), wanted});
        for (std::size_t i = 0; i < count; ++i)
            lane.in_order &= numbers[i] == lane.received++;
        if (count == 0) patience.wait();
    }
}

TEST(SpscRingConcurrent, BatchesOfAnySizeArriveInOrder) {
    StrictResource heap;
    NumberLane lane{*SpscRing<std::uint32_t>::create(heap, 100)};
    auto consumer = ouro::os::Thread::start(consume_numbers, &lane);
    ASSERT_TRUE(consumer);
    Random random(1);
    Patience patience;
    std::array<std::uint32_t, 70> numbers{};
    for (std::uint32_t sent = 0; sent < kNumbers;) {
        const std::uint32_t wanted =
            std::min<std::uint32_t>(1 + random.below(numbers.size()), kNumbers - sent);
        for (std::uint32_t i = 0; i < wanted; ++i)
            numbers[i] = sent + i;
        const std::size_t pushed = lane.ring.push_some({numbers.data(), wanted});
        sent += static_cast<std::uint32_t>(pushed);
        if (pushed == 0) patience.wait();
    }
    consumer->join();
    EXPECT_EQ(lane.received, kNumbers);
    EXPECT_TRUE(lane.in_order);
}

}  // namespace
