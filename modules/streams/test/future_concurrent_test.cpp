// Readers of kept futures, while others are kept, dropped and packed.
#include <ouro/base/random.hpp>
#include <ouro/jobs/job_pool.hpp>
#include <ouro/os/thread.hpp>
#include <ouro/streams/state_ring.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <string>

#include <gtest/gtest.h>

namespace ouro {
namespace {

constexpr std::uint32_t kPages = 24;
constexpr SegmentOptions kWorld{.name = "world", .bytes = kPages * kStatePageBytes};
constexpr auto kFirstPage = static_cast<std::uint32_t>(kSegmentAlignment / kStatePageBytes);

// The first page is filled with the number of the tick, any other with one number. From the first tick on
// none is zero: a page that nobody finds would be.
struct Futures {
    StateRing ring;
    std::atomic<bool> is_over = false;
    std::atomic<std::uint64_t> reads = 0;
    std::atomic<std::uint64_t> faults = 0;
    // Handles that may be stale by now.
    std::array<std::atomic<std::uint64_t>, 4> handles{};

    // One that was not thinned out, and not the first, of which all pages are zero.
    [[nodiscard]] Tick kept_near(Tick tick) const {
        const Tick near = ring.nearest(tick).value_or(tick);
        return near == 0 ? ring.newest() : near;
    }
    void begin() {
        const MemoryBlock world = *ring.segment_block("world");
        for (std::uint32_t page = 0; page < kPages; ++page)
            fill(world.data + std::size_t{page} * kStatePageBytes, 1);
    }
    void write(Random& random) {
        const MemoryBlock world = *ring.segment_block("world");
        fill(world.data, ring.newest() + 1);
        for (std::uint32_t count = random.below(8); count != 0; --count)
            fill(world.data + std::size_t{1 + random.below(kPages - 1)} * kStatePageBytes, random.next() | 1);
    }
    void fill(std::byte* page, std::uint64_t number) {
        for (std::size_t at = 0; at < kStatePageBytes; at += sizeof(number))
            std::memcpy(page + at, &number, sizeof(number));
        (void)ring.mark(page, kStatePageBytes);
    }
    [[nodiscard]] static bool is_whole(const TickView& view) {
        for (std::uint32_t page = kFirstPage; page < kFirstPage + kPages; ++page) {
            const std::byte* bytes = view.page(page);
            std::uint64_t first = 0;
            std::memcpy(&first, bytes, sizeof(first));
            if (first == 0 || (page == kFirstPage && first != view.tick())) return false;
            if (std::memcmp(bytes, bytes + sizeof(first), kStatePageBytes - sizeof(first)) != 0) return false;
        }
        return true;
    }
};

struct FutureReader {
    Futures* futures = nullptr;
    std::uint64_t seed = 0;

    static void run(void* argument) {
        auto& self = *static_cast<FutureReader*>(argument);
        Random random(self.seed);
        while (!self.futures->is_over.load(std::memory_order_relaxed))
            self.read(random);
    }
    // Of a kept future, or of the present, which may become one while it is held.
    [[nodiscard]] Expected<TickView> any_view(Random& random) const {
        const StateRing& ring = futures->ring;
        const Tick newest = ring.newest();
        if (random.below(2) == 0) {
            const Tick tick = newest - std::min<Tick>(newest - 1, random.below(20));
            return ring.view(futures->kept_near(tick));
        }
        const auto& handle = futures->handles[random.below(4)];
        const auto future = KeptFuture::from_bits(handle.load(std::memory_order_relaxed));
        return ring.view(future, newest + 20 - std::min<Tick>(newest + 20, random.below(60)));
    }
    void read(Random& random) {
        const auto view = any_view(random);
        if (!view) {
            const bool is_expected =
                view.status() == Status::stale_handle || view.status() == Status::out_of_range ||
                view.status() == Status::tick_thinned || view.status() == Status::tick_gone ||
                view.status() == Status::budget_exceeded;
            if (!is_expected) futures->faults.fetch_add(1);
            return;
        }
        for (int times = 0; times < 4; ++times) {
            if (!Futures::is_whole(*view)) futures->faults.fetch_add(1);
            os::yield_thread();
        }
        futures->reads.fetch_add(1);
    }
};

void simulate(Futures& futures, Random& random) {
    StateRing& ring = futures.ring;
    for (int step = 0; step < 1500 || futures.reads.load() < 50; ++step) {
        const Tick back = random.below(20);
        const Tick target = ring.newest() > back + ring.oldest() ? ring.newest() - back : ring.newest();
        const std::uint32_t choice = random.below(24);
        auto& handle = futures.handles[random.below(4)];
        if (choice == 0) {
            ASSERT_TRUE(ring.rollback(futures.kept_near(target)));
        } else if (choice < 3) {
            if (const auto old = KeptFuture::from_bits(handle.exchange(0)); old) {
                ASSERT_TRUE(ring.drop(old));
            }
            const auto future = ring.branch(futures.kept_near(target));
            if (future) handle.store(future->bits());
        } else {
            futures.write(random);
            ASSERT_TRUE(ring.commit());
        }
    }
}

void run_futures(std::uint64_t seed, const StateRingOptions& options) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    auto ring = StateRing::create(options);
    ASSERT_TRUE(ring);
    Futures futures;
    futures.ring = *std::move(ring);
    Random random(seed);
    futures.begin();
    ASSERT_TRUE(futures.ring.commit());
    std::array<FutureReader, 3> readers;
    std::array<os::Thread, 3> threads;
    for (std::size_t index = 0; index < readers.size(); ++index) {
        readers[index] = {.futures = &futures, .seed = seed * 100 + index};
        auto thread = os::Thread::start(FutureReader::run, &readers[index]);
        ASSERT_TRUE(thread);
        threads[index] = *std::move(thread);
    }
    simulate(futures, random);
    futures.is_over = true;
    for (os::Thread& thread : threads)
        thread.join();
    EXPECT_EQ(futures.faults, 0U);
    ASSERT_TRUE(futures.ring.commit());
    EXPECT_EQ(futures.ring.check(), Status::ok);
}

TEST(FutureConcurrent, ReadersSeeWholeTicksOfFutures) {
    run_futures(1, {.segments = {&kWorld, 1}, .history_ticks = 30, .history_bytes = 16 << 20});
}

TEST(FutureConcurrent, ReadersSeeWholeTicksOfPackedFutures) {
    for (unsigned workers = 0; workers < 2; ++workers) {
        auto jobs = JobPool::create({.workers = workers});
        ASSERT_TRUE(jobs);
        for (const std::uint32_t thinned_ticks : {0U, 40U})
            run_futures(2 + workers, {.segments = {&kWorld, 1},
                                      .history_ticks = 16,
                                      .history_bytes = 16 << 20,
                                      .packing = true,
                                      .dense_ticks = 3,
                                      .thinned_ticks = thinned_ticks,
                                      .thin_every = 4,
                                      .jobs = workers == 0 ? nullptr : &*jobs});
    }
}

// Somebody who sees when the newest tick is another.
struct Watcher {
    StateRing* ring = nullptr;
    Tick newest = 0;
    std::atomic<bool> has_begun = false;
    std::atomic<bool> is_over = false;
    std::uint64_t faults = 0;

    static void run(void* argument) {
        auto& self = *static_cast<Watcher*>(argument);
        self.has_begun = true;
        while (!self.is_over.load(std::memory_order_relaxed))
            if (self.ring->newest() != self.newest) ++self.faults;
    }
};

// There are so many kept futures at the most. One more is refused, and nobody ever sees that it was tried;
// who reads the ticks that are left behind keeps nobody from going back.
TEST(FutureConcurrent, ABranchThatFailsIsNotSeen) {
    constexpr std::uint32_t kMaxKept = 48;
    auto ring = StateRing::create({.segments = {&kWorld, 1}, .history_ticks = 30, .history_bytes = 16 << 20});
    ASSERT_TRUE(ring);
    const auto commit = [&] {
        const MemoryBlock world = *ring->segment_block("world");
        world.data[0] = static_cast<std::byte>(ring->newest());
        ASSERT_EQ(ring->mark(world.data, 1), Status::ok);
        ASSERT_TRUE(ring->commit());
    };
    commit();
    for (std::uint32_t count = 0; count < kMaxKept; ++count) {
        commit();
        ASSERT_TRUE(ring->branch(1));
    }
    commit();
    const auto view = ring->view(2);
    ASSERT_TRUE(view);
    Watcher watcher{.ring = &*ring, .newest = 2};
    auto thread = os::Thread::start(Watcher::run, &watcher);
    ASSERT_TRUE(thread);
    while (!watcher.has_begun.load())
        os::yield_thread();
    for (int times = 0; times < 10'000; ++times)
        ASSERT_EQ(ring->branch(1).status(), Status::capacity_exhausted);
    watcher.is_over = true;
    thread->join();
    EXPECT_EQ(watcher.faults, 0U);
    ASSERT_TRUE(ring->rollback(1));
    EXPECT_EQ(view->page(kFirstPage)[0], std::byte{1});
    EXPECT_EQ(ring->check(), Status::ok);
}

}  // namespace
}  // namespace ouro
