// Readers of past ticks while the simulation commits, gives up ticks and rolls back.
#include <ouro/base/random.hpp>
#include <ouro/jobs/job.hpp>
#include <ouro/jobs/job_pool.hpp>
#include <ouro/os/thread.hpp>
#include <ouro/streams/state_ring.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <functional>
#include <span>
#include <string>

#include <gtest/gtest.h>

namespace ouro {
namespace {

constexpr std::uint32_t kPages = 64;
constexpr SegmentOptions kWorld{.name = "world", .bytes = kPages * kStatePageBytes};
constexpr SegmentOptions kFineWorld{.name = "world", .bytes = kPages * kStatePageBytes, .fine = true};

// Every page of a tick is filled with one number that nobody else ever writes: the number of the commit. In a
// fine segment only a few lines of it are.
class Scene {
public:
    explicit Scene(const StateRingOptions& options)
        : stride_(options.segments[0].fine ? kStatePageBytes / 4 : sizeof(std::uint64_t)),
          declares_(options.segments[0].tracking == Tracking::declared) {
        auto ring = StateRing::create(options);
        if (ring) ring_ = *std::move(ring);
    }

    [[nodiscard]] StateRing& ring() { return ring_; }
    std::atomic<bool> is_over = false;
    std::atomic<std::uint64_t> pages_read = 0;
    std::atomic<std::uint64_t> faults = 0;

    // A few pages get the next number; the first page always does, and says which tick it is.
    void change(Random& random) {
        const MemoryBlock world = *ring_.segment_block("world");
        ++serial_;
        fill(world.data, ring_.newest() + 1);
        for (std::uint32_t count = random.below(12); count != 0; --count)
            fill(world.data + std::size_t{1 + random.below(kPages - 1)} * kStatePageBytes, serial_);
    }

    // Each page of the view must be of one piece, and the first belong to its tick.
    void look_at(const TickView& view) {
        const auto begin = static_cast<std::uint32_t>(kSegmentAlignment / kStatePageBytes);
        for (std::uint32_t page = begin; page < begin + kPages; ++page) {
            const std::byte* bytes = view.page(page);
            const std::uint64_t first = number_at(bytes);
            if (page == begin && first != view.tick())
                return note("tick " + std::to_string(view.tick()) + " has the first page of " +
                            std::to_string(first));
            for (std::size_t at = stride_; at < kStatePageBytes; at += stride_)
                if (number_at(bytes + at) != first)
                    return note("tick " + std::to_string(view.tick()) + ", page " +
                                std::to_string(page - begin) + ": " + std::to_string(first) + ", and " +
                                std::to_string(number_at(bytes + at)) + " at " + std::to_string(at));
        }
        pages_read.fetch_add(kPages, std::memory_order_relaxed);
    }

    // What was wrong, for whoever reads the test's output; the first time only.
    void note(const std::string& what) {
        if (faults.fetch_add(1) == 0) first_fault_ = what;
    }
    // When the readers have ended.
    [[nodiscard]] const std::string& first_fault() const { return first_fault_; }

private:
    [[nodiscard]] static std::uint64_t number_at(const std::byte* bytes) {
        std::uint64_t number = 0;
        std::memcpy(&number, bytes, sizeof(number));
        return number;
    }
    void fill(std::byte* page, std::uint64_t number) {
        for (std::size_t at = 0; at < kStatePageBytes; at += stride_) {
            std::memcpy(page + at, &number, sizeof(number));
            if (declares_) (void)ring_.mark(page + at, sizeof(number));
        }
    }

    std::size_t stride_;
    bool declares_;
    StateRing ring_;
    std::string first_fault_;
    std::uint64_t serial_ = std::uint64_t{1} << 40;
};

struct Reader {
    Scene* scene = nullptr;
    std::uint64_t seed = 0;
    std::uint32_t reach = 0;

    static void run(void* argument) {
        auto& self = *static_cast<Reader*>(argument);
        Random random(self.seed);
        StateRing& ring = self.scene->ring();
        while (!self.scene->is_over.load(std::memory_order_relaxed)) {
            const Tick newest = ring.newest();
            const Tick back = random.below(self.reach);
            const Tick tick = newest > back ? newest - back : newest;
            auto view = ring.view(random.below(4) == 0 ? tick : ring.nearest(tick).value_or(tick));
            if (!view) {
                const bool is_expected =
                    view.status() == Status::tick_gone || view.status() == Status::out_of_range ||
                    view.status() == Status::tick_thinned || view.status() == Status::budget_exceeded;
                if (!is_expected)
                    self.scene->note("a view fails: " + std::string(status_name(view.status())));
                continue;
            }
            // The same again, as long as it is held.
            for (std::uint32_t times = 1 + random.below(4); times != 0; --times) {
                self.scene->look_at(*view);
                os::yield_thread();
            }
        }
    }
};

void run_readers(std::uint64_t seed, bool rolls_back, const StateRingOptions& options) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Scene scene(options);
    ASSERT_FALSE(scene.ring().image().is_null());
    Random random(seed);
    // Tick 0 has no number of its own.
    scene.change(random);
    ASSERT_TRUE(scene.ring().commit());
    std::array<Reader, 3> readers;
    std::array<os::Thread, 3> threads;
    for (std::size_t index = 0; index < readers.size(); ++index) {
        readers[index] = {.scene = &scene,
                          .seed = seed * 100 + index,
                          .reach = options.history_ticks + options.thinned_ticks + 4};
        auto thread = os::Thread::start(Reader::run, &readers[index]);
        ASSERT_TRUE(thread);
        threads[index] = *std::move(thread);
    }
    Status status = Status::ok;
    std::uint64_t most_packed = 0;
    // Long enough for the readers to have read, however late they are started.
    const auto is_enough = [&](int step) { return step >= 1500 && scene.pages_read.load() > 100 * kPages; };
    for (int step = 0; !is_enough(step) && status == Status::ok; ++step) {
        const Tick newest = scene.ring().newest();
        const Tick oldest = std::max<Tick>(1, scene.ring().oldest());
        // Seldom, where the history is to become long.
        const std::uint32_t seldom = options.packing ? 60 : 6;
        if (rolls_back && newest > oldest && random.below(seldom) == 0) {
            const auto back = random.below(static_cast<std::uint32_t>(newest - oldest) + 1);
            status = scene.ring().rollback(scene.ring().nearest(newest - back).value_or(newest)).status();
        } else {
            scene.change(random);
            status = scene.ring().commit().status();
        }
        most_packed = std::max(most_packed, scene.ring().stats().packed_versions);
        // Let readers hold on to ticks that are given up meanwhile.
        if (step % 16 == 0) os::yield_thread();
    }
    scene.is_over = true;
    for (os::Thread& thread : threads)
        thread.join();
    EXPECT_EQ(status, Status::ok);
    EXPECT_EQ(scene.faults, 0U) << scene.first_fault();
    EXPECT_TRUE(most_packed != 0 || !options.segments[0].fine);
    ASSERT_TRUE(scene.ring().commit());
    EXPECT_EQ(scene.ring().check(), Status::ok);
}

constexpr StateRingOptions kWhole{.segments = {&kWorld, 1}, .history_ticks = 8, .history_bytes = 8 << 20};

TEST(RingConcurrent, ReadersSeeWholeTicksWhileOthersAreGivenUp) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed)
        run_readers(seed, false, kWhole);
}

TEST(RingConcurrent, ReadersSeeWholeTicksWhileOthersAreRolledBack) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed)
        run_readers(seed, true, kWhole);
}

constexpr StateRingOptions kFine{.segments = {&kFineWorld, 1}, .history_ticks = 8, .history_bytes = 8 << 20};

TEST(RingConcurrent, ReadersSeeWholeTicksWhileVersionsChangeInPlace) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed)
        run_readers(seed, false, kFine);
}

TEST(RingConcurrent, ReadersSeeWholeTicksWhileFineOnesAreRolledBack) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed)
        run_readers(seed, true, kFine);
}

// Segments whose writes the ring finds by itself; hot pages are left open by the kernel's tracker, and what
// is restored goes past all of them.
class TrackedReaders : public testing::TestWithParam<Tracking> {
protected:
    void run(bool rolls_back) {
        const SegmentOptions world{
            .name = "world", .bytes = kPages * kStatePageBytes, .tracking = GetParam()};
        const StateRingOptions options{.segments = {&world, 1}, .history_ticks = 8, .history_bytes = 8 << 20};
        if (StateRing::create(options).status() == Status::not_supported)
            GTEST_SKIP() << "needs "
                         << (GetParam() == Tracking::kernel ? "userfaultfd_wp_async" : "page_protection");
        for (std::uint64_t seed = 1; seed <= 2; ++seed)
            run_readers(seed, rolls_back, options);
    }
};

TEST_P(TrackedReaders, SeeWholeTicksWhileOthersAreGivenUp) {
    run(false);
}
TEST_P(TrackedReaders, SeeWholeTicksWhileOthersAreRolledBack) {
    run(true);
}

INSTANTIATE_TEST_SUITE_P(RingConcurrent, TrackedReaders,
                         testing::Values(Tracking::kernel, Tracking::protect, Tracking::compare),
                         [](const auto& tested) { return std::string(tracking_name(tested.param)); });

// The first by whoever commits, the others by workers.
void run_packed_readers(bool rolls_back, std::uint32_t thinned_ticks, std::uint64_t history_bytes) {
    for (unsigned workers = 0; workers < 3; ++workers) {
        SCOPED_TRACE(std::to_string(workers) + " workers");
        auto jobs = JobPool::create({.workers = workers});
        ASSERT_TRUE(jobs);
        run_readers(10 + workers, rolls_back,
                    {.segments = {&kWorld, 1},
                     .history_ticks = 30,
                     .history_bytes = history_bytes,
                     .packing = true,
                     .dense_ticks = 4,
                     .unpacked_bytes = 2 << 20,
                     .thinned_ticks = thinned_ticks,
                     .thin_every = 6,
                     .jobs = workers == 0 ? nullptr : &*jobs});
    }
}

TEST(RingConcurrent, ReadersSeeWholeTicksWhileTheyArePacked) {
    run_packed_readers(false, 0, 8 << 20);
}
TEST(RingConcurrent, ReadersSeeWholeTicksWhilePackedOnesAreRolledBack) {
    run_packed_readers(true, 0, 8 << 20);
}
TEST(RingConcurrent, ReadersSeeWholeTicksWhilePackedOnesAreGivenUp) {
    run_packed_readers(true, 0, 5 << 20);
}
TEST(RingConcurrent, ReadersSeeWholeTicksWhileTheyAreThinnedOut) {
    run_packed_readers(false, 90, 8 << 20);
}
TEST(RingConcurrent, ReadersSeeWholeTicksWhileThinnedOnesAreRolledBack) {
    run_packed_readers(true, 90, 8 << 20);
}

// Keeps the worker of a pool busy, so that old versions wait to be packed and are given up as they are.
class BusyWork {
public:
    explicit BusyWork(JobPool& jobs) {
        if (!post(jobs, work_)) return;
        while (!has_begun_.load())
            os::yield_thread();
    }
    ~BusyWork() {
        is_over_ = true;
        wait(work_);
    }
    BusyWork(const BusyWork&) = delete;
    BusyWork& operator=(const BusyWork&) = delete;

private:
    void stay() {
        has_begun_ = true;
        while (!is_over_.load())
            os::yield_thread();
    }

    std::atomic<bool> has_begun_ = false;
    std::atomic<bool> is_over_ = false;
    JobWith<std::function<void()>> work_{[this] { stay(); }};
};

// One reader has the whole quota, ends, and the next one has it before anything is committed.
TEST(RingConcurrent, AReadersShareIsTheNextOnesWhenItEnds) {
    constexpr std::uint64_t kShare = kPages + 1;
    auto jobs = JobPool::create({.workers = 1});
    ASSERT_TRUE(jobs);
    const BusyWork busy(*jobs);
    auto ring = StateRing::create({.segments = {&kWorld, 1},
                                   .history_ticks = 100,
                                   .history_bytes = 4 << 20,
                                   .reader_bytes = kShare * kStatePageBytes,
                                   .packing = true,
                                   .dense_ticks = 2,
                                   .jobs = &*jobs});
    ASSERT_TRUE(ring) << status_name(ring.status());
    const MemoryBlock world = *ring->segment_block("world");
    const auto commit = [&] {
        const Tick tick = ring->newest() + 1;
        for (std::uint32_t page = 0; page < kPages; ++page)
            std::memcpy(world.data + page * kStatePageBytes, &tick, sizeof(tick));
        (void)ring->mark(world.data, world.size);
        return ring->commit().status();
    };
    while (ring->oldest() < 10)
        ASSERT_EQ(commit(), Status::ok);
    for (int reader = 0; reader < 10; ++reader) {
        const Tick oldest = ring->oldest();
        auto view = ring->view(oldest);
        ASSERT_TRUE(view) << status_name(view.status());
        EXPECT_EQ(ring->view(oldest + 1).status(), Status::budget_exceeded);
        while (ring->oldest() == oldest)
            ASSERT_EQ(commit(), Status::ok);
        Tick number = 0;
        ASSERT_EQ(view->read(kSegmentAlignment, std::as_writable_bytes(std::span(&number, 1))), Status::ok);
        EXPECT_EQ(number, oldest);
        EXPECT_EQ(ring->stats().pinned_slots, kPages);
    }
    ASSERT_EQ(commit(), Status::ok);
    EXPECT_EQ(ring->check(), Status::ok);
}

// When a worker has prepared to thin out a tick that can still be seen.
TEST(RingConcurrent, WhatIsNearestCanBeGoneBackTo) {
    auto jobs = JobPool::create({.workers = 1});
    ASSERT_TRUE(jobs);
    for (Tick ticks = 30; ticks < 50; ++ticks) {
        auto ring = StateRing::create({.segments = {&kWorld, 1},
                                       .history_ticks = 8,
                                       .history_bytes = 8 << 20,
                                       .packing = true,
                                       .dense_ticks = 2,
                                       .thinned_ticks = 60,
                                       .thin_every = 5,
                                       .jobs = &*jobs});
        ASSERT_TRUE(ring);
        const MemoryBlock world = *ring->segment_block("world");
        while (ring->newest() < ticks) {
            std::memset(world.data, static_cast<int>(ring->newest()), 100);
            (void)ring->mark(world.data, 100);
            ASSERT_TRUE(ring->commit());
            // The one worker does them in order: what the ring has posted is done when this is.
            JobWith behind([] {});
            ASSERT_TRUE(post(*jobs, behind));
            while (!behind.is_done())
                os::yield_thread();
        }
        Tick tick = 1;
        while (ring->nearest(tick).value_or(0) != tick || tick % 5 == 0)
            ++tick;
        EXPECT_EQ(ring->rollback(tick).status(), Status::ok) << tick << " of " << ticks;
        EXPECT_EQ(ring->check(), Status::ok);
    }
}

}  // namespace
}  // namespace ouro
