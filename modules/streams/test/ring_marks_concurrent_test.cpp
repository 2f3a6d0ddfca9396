// Threads that mark and write side by side, and workers that copy.
#include <ouro/base/hash.hpp>
#include <ouro/base/random.hpp>
#include <ouro/jobs/job_pool.hpp>
#include <ouro/os/thread.hpp>
#include <ouro/streams/state_ring.hpp>

#include <array>
#include <atomic>
#include <cstring>

#include <gtest/gtest.h>

namespace ouro {
namespace {

constexpr std::uint32_t kPages = 64;
constexpr SegmentOptions kWorld{.name = "world", .bytes = kPages * kStatePageBytes};
constexpr SegmentOptions kFineWorld{.name = "world", .bytes = kPages * kStatePageBytes, .fine = true};

// Whoever copies and hashes, the result is the same.
TEST(RingMarks, WorkersChangeNothing) {
    constexpr SegmentOptions kLarge{.name = "world", .bytes = 8 << 20};
    constexpr int kTicks = 12;
    std::array<std::array<std::uint64_t, kTicks>, 3> hashes{};
    for (unsigned workers = 0; workers < hashes.size(); ++workers) {
        auto jobs = JobPool::create({.workers = workers});
        ASSERT_TRUE(jobs);
        auto ring = StateRing::create({.segments = {&kLarge, 1},
                                       .history_ticks = kTicks,
                                       .history_bytes = 64 << 20,
                                       .jobs = workers == 0 ? nullptr : &*jobs});
        ASSERT_TRUE(ring);
        const MemoryBlock world = *ring->segment_block("world");
        Random random(7);
        for (int tick = 0; tick < kTicks; ++tick) {
            for (std::uint32_t count = 1500; count != 0; --count) {
                const std::uint64_t value = random.next();
                std::byte* at = world.data + random.below(static_cast<std::uint32_t>(world.size) - 8);
                std::memcpy(at, &value, sizeof(value));
                ASSERT_EQ(ring->mark(at, sizeof(value)), Status::ok);
            }
            ASSERT_TRUE(ring->commit());
        }
        ASSERT_TRUE(ring->rollback(3));
        ASSERT_EQ(ring->check(), Status::ok);
        for (int tick = 0; tick < kTicks; ++tick)
            hashes[workers][static_cast<std::size_t>(tick)] =
                tick <= 3 ? *ring->hash(static_cast<Tick>(tick)) : hash_bytes(world.data, world.size);
    }
    EXPECT_EQ(hashes[1], hashes[0]);
    EXPECT_EQ(hashes[2], hashes[0]);
}

// Two writers of one page, each with its own half, and of neighbouring ones.
struct Writer {
    StateRing* ring = nullptr;
    std::atomic<std::uint32_t>* round = nullptr;
    std::atomic<std::uint32_t>* done = nullptr;
    std::uint32_t number = 0;
    std::uint32_t rounds = 0;

    static constexpr std::uint32_t kWriters = 4;

    static void run(void* argument) {
        auto& self = *static_cast<Writer*>(argument);
        std::byte* world = self.ring->segment_block("world")->data;
        for (std::uint32_t round = 1; round <= self.rounds; ++round) {
            while (self.round->load(std::memory_order_acquire) < round)
                os::yield_thread();
            for (std::uint32_t page = 0; page < kPages; ++page) {
                std::byte* to = world + std::size_t{page} * kStatePageBytes + self.number * 1024;
                // Each its own choice of pages, which differs from round to round.
                if ((page + round) % (self.number + 2) != 0) continue;
                (void)self.ring->mark(to, sizeof(round));
                std::memcpy(to, &round, sizeof(round));
            }
            self.done->fetch_add(1, std::memory_order_acq_rel);
        }
    }
};

void expect_no_mark_is_lost(const SegmentOptions& world) {
    auto ring = StateRing::create({.segments = {&world, 1}, .history_ticks = 4, .history_bytes = 8 << 20});
    ASSERT_TRUE(ring);
    std::atomic<std::uint32_t> round = 0;
    std::atomic<std::uint32_t> done = 0;
    constexpr std::uint32_t kRounds = 400;
    std::array<Writer, Writer::kWriters> writers;
    std::array<os::Thread, Writer::kWriters> threads;
    for (std::uint32_t index = 0; index < Writer::kWriters; ++index) {
        writers[index] = {.ring = &*ring, .round = &round, .done = &done, .number = index, .rounds = kRounds};
        auto thread = os::Thread::start(Writer::run, &writers[index]);
        ASSERT_TRUE(thread);
        threads[index] = *std::move(thread);
    }
    std::uint32_t lost = 0;
    for (std::uint32_t each = 1; each <= kRounds; ++each) {
        round.store(each, std::memory_order_release);
        while (done.load(std::memory_order_acquire) < each * Writer::kWriters)
            os::yield_thread();
        const auto tick = ring->commit();
        const auto view = ring->view(*tick);
        for (std::uint32_t page = 0; page < ring->image().size / kStatePageBytes; ++page)
            lost += std::memcmp(view->page(page), ring->image().data + page * kStatePageBytes,
                                kStatePageBytes) != 0;
    }
    for (os::Thread& thread : threads)
        thread.join();
    EXPECT_EQ(lost, 0U);
}

TEST(RingMarks, NoneIsLost) {
    expect_no_mark_is_lost(kWorld);
}
TEST(RingMarks, NoneIsLostWhereLinesAreKept) {
    expect_no_mark_is_lost(kFineWorld);
}

}  // namespace
}  // namespace ouro
