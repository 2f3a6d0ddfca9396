// Whatever a ring can do, with each tracker alone: every call to the system that it makes fails, once and
// from then on. What needs nothing but the tracker is done all the same; else all that can be seen of the
// ring is as before, nothing is left behind, and the next try succeeds, with what would have come out at
// once.
#include "mapping_table.hpp"
#include "ring_picture.hpp"

#include <ouro/os/fault_injection.hpp>
#include <ouro/os/process_memory.hpp>
#include <ouro/streams/image_file.hpp>
#include <ouro/streams/sync_test.hpp>

#include <array>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <string>
#include <tuple>

#include <fcntl.h>
#include <gtest/gtest.h>

namespace ouro::testing_support {
namespace {

namespace inject = os::fault_injection;
using os::OsCall;
using os::testing_support::NoMappingLeak;

constexpr Tick kLast = 10;
constexpr Tick kTarget = 6;
constexpr std::uint32_t kPages = 16;

struct RingKind {
    const char* name;
    Tracking tracking;
    // Packed, and thinned out from the fourth tick back.
    bool packing = false;
    bool fine = false;
};

constexpr std::array kKinds = {
    RingKind{"Declared", Tracking::declared},
    RingKind{"Kernel", Tracking::kernel},
    RingKind{"Protect", Tracking::protect},
    RingKind{"Compare", Tracking::compare},
    RingKind{"Fine", Tracking::declared, false, true},
    RingKind{"ThinnedDeclared", Tracking::declared, true},
    RingKind{"ThinnedKernel", Tracking::kernel, true},
    RingKind{"ThinnedProtect", Tracking::protect, true},
};

Expected<StateRing> make_ring(const RingKind& kind) {
    const std::array segments = {
        SegmentOptions{
            .name = "world", .bytes = kPages * kStatePageBytes, .tracking = kind.tracking, .fine = kind.fine},
        SegmentOptions{.name = "script",
                       .bytes = kPages * kStatePageBytes,
                       .kind = SegmentKind::process_bound,
                       .tracking = kind.tracking}};
    return StateRing::create({.segments = segments,
                              .history_ticks = kind.packing ? 3U : 20U,
                              .history_bytes = 4 << 20,
                              .packing = kind.packing,
                              .dense_ticks = 1,
                              .thinned_ticks = kind.packing ? 40U : 0U,
                              .thin_every = 4});
}

// What a tick does depends on nothing but the state and its number. Only what has to be declared is marked: a
// mark would hide that a tracker has lost a page.
void simulate(StateRing& ring, Tick tick) {
    for (const Segment& segment : ring.segments()) {
        for (const std::uint64_t page : {std::uint64_t{0}, 1 + tick % 7, std::uint64_t{kPages - 1}}) {
            std::byte* at = ring.image().data + segment.offset + page * kStatePageBytes + 100 + tick;
            *at = static_cast<std::byte>(static_cast<unsigned>(*at) * 3 + tick + page);
            if (segment.tracking != Tracking::declared) continue;
            EXPECT_EQ(ring.mark(at, 1), Status::ok);
        }
    }
}

Status simulate_to(StateRing& ring, Tick tick) {
    while (ring.newest() < tick) {
        simulate(ring, ring.newest() + 1);
        if (const auto done = ring.commit(); !done) return done.status();
    }
    return Status::ok;
}

// Ten ticks, and writes behind them that no commit has seen.
Expected<StateRing> make_used_ring(const RingKind& kind) {
    auto ring = make_ring(kind);
    if (!ring) return ring;
    EXPECT_EQ(simulate_to(*ring, kLast), Status::ok);
    simulate(*ring, kLast + 1);
    return ring;
}

// One file to be loaded, and one that saving replaces.
struct Files {
    std::filesystem::path folder;
    std::string loaded;
    std::string saved;
};

struct Operation {
    const char* name;
    Status (*run)(StateRing& ring, const Files& files);
    // Whether it needs the system beside the tracker.
    bool uses_files = false;
};

Status commit(StateRing& ring, const Files&) {
    return ring.commit().status();
}

Status undo(StateRing& ring, const Files&) {
    return ring.rollback(ring.newest()).status();
}

Status roll_back(StateRing& ring, const Files&) {
    return ring.rollback(4).status();
}

// The future that is kept must be readable, and is dropped again.
Status branch(StateRing& ring, const Files&) {
    const RingPicture::Past last = picture_of(ring, kLast);
    const auto future = ring.branch(4);
    if (!future) return future.status();
    const auto view = ring.view(*future, kLast);
    EXPECT_TRUE(view);
    std::uint64_t bytes = 0;
    for (std::uint32_t page = 0; view && page < ring.image().size >> kStatePageShift; ++page)
        bytes = bytes * 31 + hash_bytes(view->page(page), kStatePageBytes, page);
    EXPECT_EQ(bytes, last.bytes);
    return ring.drop(*future).status();
}

Status restore(StateRing& ring, const Files&) {
    return ring.restore(kTarget, [&](Tick tick) { simulate(ring, tick); }).status();
}

Status test_sync(StateRing& ring, const Files&) {
    const auto outcome = sync_test(ring, 3, [&](Tick tick) { simulate(ring, tick); });
    if (outcome) {
        EXPECT_EQ(outcome->ticks, 3U);
        EXPECT_FALSE(outcome->differs);
    }
    return outcome.status();
}

Status read_past(StateRing& ring, const Files&) {
    const auto view = ring.view(kLast - 2);
    if (!view) return view.status();
    const Status status = ring.changed(4, kLast, [](ChangedRange) {});
    EXPECT_NE(view->page(1), nullptr);
    return status;
}

Status save(StateRing& ring, const Files& files) {
    const auto view = ring.view(kLast - 1);
    return view ? save_image(*view, files.saved.c_str()).status() : view.status();
}

Status load(StateRing& ring, const Files& files) {
    return load_image(ring, files.loaded.c_str()).status();
}

constexpr std::array kOperations = {
    Operation{"Commit", commit},  Operation{"Rollback", roll_back}, Operation{"Undo", undo},
    Operation{"Branch", branch},  Operation{"Restore", restore},    Operation{"SyncTest", test_sync},
    Operation{"View", read_past}, Operation{"Save", save, true},    Operation{"Load", load, true},
};

int count_open_files() {
    int count = 0;
    for (int descriptor = 0; descriptor < 256; ++descriptor)
        count += ::fcntl(descriptor, F_GETFD) >= 0 ? 1 : 0;
    return count;
}

// Once, or from then on.
using Fail = void (*)(OsCall call, std::uint64_t nth, int error) noexcept;

class RingOperationFaults : public testing::TestWithParam<std::tuple<RingKind, Operation>> {
protected:
    void SetUp() override {
        const auto probe = make_ring(kind());
        if (probe.status() == Status::not_supported) GTEST_SKIP() << "needs userfaultfd_wp_async";
        ASSERT_TRUE(probe) << status_name(probe.status());
        files_.folder = std::filesystem::path(testing::TempDir()) /
                        ("ouro-ring-faults-" + std::to_string(os::process_id()));
        std::filesystem::create_directories(files_.folder);
        files_.loaded = (files_.folder / "loaded.image").string();
        files_.saved = (files_.folder / "saved.image").string();
        auto other = make_used_ring(kind());
        ASSERT_TRUE(other && other->commit());
        ASSERT_TRUE(save_image(*other->view(kLast - 1), files_.loaded.c_str()));
        done_ = result_of(operation().run);
        save_older();
    }
    void TearDown() override {
        inject::clear();
        std::filesystem::remove_all(files_.folder);
    }

    [[nodiscard]] static const RingKind& kind() { return std::get<0>(GetParam()); }
    [[nodiscard]] static const Operation& operation() { return std::get<1>(GetParam()); }

    void save_older() const {
        auto other = make_used_ring(kind());
        ASSERT_TRUE(other && save_image(*other->view(kLast - 2), files_.saved.c_str()));
    }

    // Whole or not at all: what had the name before is still there otherwise, and nothing beside it.
    void expect_file(const StateRing& ring, bool is_done) const {
        const auto there = check_image_file(files_.saved.c_str());
        ASSERT_TRUE(there) << status_name(there.status());
        const Tick saved = operation().run == save && is_done ? kLast - 1 : kLast - 2;
        EXPECT_EQ(there->tick, saved);
        if (operation().run == save) {
            EXPECT_EQ(there->state_hash, *ring.hash(saved));
        }
        EXPECT_EQ(std::distance(std::filesystem::directory_iterator(files_.folder), {}), 2);
    }

    // How a ring is when nothing fails.
    template <class Run>
    RingPicture result_of(Run run) {
        auto ring = make_used_ring(kind());
        EXPECT_EQ(run(*ring, files_), Status::ok);
        return picture_of(*ring);
    }

    // Whether the call was used so often.
    bool fail_once(Fail fail, OsCall call, std::uint64_t nth) {
        auto ring = make_used_ring(kind());
        EXPECT_TRUE(ring);
        if (operation().run == save) save_older();
        const RingPicture before = picture_of(*ring);
        const int open_files = count_open_files();
        fail(call, nth, ENOMEM);
        const Status status = operation().run(*ring, files_);
        const bool fired = inject::has_fired();
        inject::clear();
        EXPECT_EQ(count_open_files(), open_files);
        EXPECT_TRUE(fired || status == Status::ok);
        expect_file(*ring, status == Status::ok);
        failed_scans_ += ring->stats().failed_scans;
        if (status != Status::ok) {
            ++failures_;
            EXPECT_TRUE(before == picture_of(*ring));
            EXPECT_EQ(operation().run(*ring, files_), Status::ok);
            expect_file(*ring, true);
        }
        EXPECT_TRUE(done_ == picture_of(*ring));
        EXPECT_EQ(simulate_to(*ring, ring->newest() + 3), Status::ok);
        EXPECT_EQ(ring->check(), Status::ok);
        EXPECT_EQ(count_open_files(), open_files);
        return fired;
    }

    // What leaks does so each time, a sanitizer's own page does not.
    bool fail_once_without_leak(Fail fail, OsCall call, std::uint64_t nth) {
        std::string left_behind;
        for (int attempt = 0; attempt < 3; ++attempt) {
            NoMappingLeak::mark();
            const bool fired = fail_once(fail, call, nth);
            left_behind = NoMappingLeak::difference();
            // What cannot be unmapped stays; the module os has a test for that.
            if (left_behind.empty() || call == OsCall::unmap_memory || HasFailure()) return fired;
        }
        EXPECT_EQ(left_behind, "");
        return false;
    }

    // While it lasts, protected memory cannot be opened for the step that writes to it, and the program ends
    // there.
    [[nodiscard]] static bool is_exempt(Fail fail, OsCall call) {
        const bool writes = operation().run == restore || operation().run == test_sync;
        return writes && fail == inject::fail_from && kind().tracking == Tracking::protect &&
               call == OsCall::protect_memory;
    }

    void sweep(Fail fail) {
        for (unsigned call = 0; call < os::kOsCallCount; ++call) {
            if (is_exempt(fail, static_cast<OsCall>(call))) continue;
            for (std::uint64_t nth = 1; nth < 200; ++nth) {
                SCOPED_TRACE(std::string(inject::name_of(static_cast<OsCall>(call))) + " " +
                             std::to_string(nth));
                const bool fired = fail_once_without_leak(fail, static_cast<OsCall>(call), nth);
                if (HasFailure()) return;
                if (!fired) break;
                ++fired_;
            }
        }
        // Reading the past asks nothing of the system, nor do ticks whose writes are declared or compared.
        const bool asks = operation().run != read_past && operation().run != save;
        const bool is_kernel = kind().tracking == Tracking::kernel;
        const bool is_tracked = is_kernel || kind().tracking == Tracking::protect;
        EXPECT_EQ(fired_ != 0,
                  operation().uses_files || (asks && is_tracked && !is_exempt(fail, OsCall::protect_memory)));
        EXPECT_EQ(failures_ != 0, operation().uses_files);
        // Pages that cannot be protected stay open, and are captured once more.
        EXPECT_EQ(failed_scans_ != 0, asks && is_kernel);
    }

    Files files_;
    RingPicture done_;
    unsigned failures_ = 0;
    unsigned fired_ = 0;
    std::uint64_t failed_scans_ = 0;
};

TEST_P(RingOperationFaults, HappensOrChangesNothing) {
    sweep(inject::fail_nth);
}

TEST_P(RingOperationFaults, HappensOrChangesNothingAsLongAsItFails) {
    sweep(inject::fail_from);
}

INSTANTIATE_TEST_SUITE_P(Each, RingOperationFaults,
                         testing::Combine(testing::ValuesIn(kKinds), testing::ValuesIn(kOperations)),
                         [](const auto& tested) {
                             return std::string(std::get<0>(tested.param).name) +
                                    std::get<1>(tested.param).name;
                         });

}  // namespace
}  // namespace ouro::testing_support
