// Whatever a ring can do, with each tracker alone: every call to the system that it makes fails once. Then
// all that can be seen of the ring is as before, or as the header says; nothing is left behind; and the next
// try succeeds, with what would have come out without the failure.
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

// What a tick does depends on nothing but the state and its number.
void simulate(StateRing& ring, Tick tick) {
    for (const Segment& segment : ring.segments()) {
        for (const std::uint64_t page : {std::uint64_t{0}, 1 + tick % 7, std::uint64_t{kPages - 1}}) {
            std::byte* at = ring.image().data + segment.offset + page * kStatePageBytes + 100 + tick;
            *at = static_cast<std::byte>(static_cast<unsigned>(*at) * 3 + tick + page);
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
    // What is done after a failure; null: the same again.
    Status (*resume)(StateRing& ring, const Files& files) = nullptr;
    // What is as it was when it fails: everything; the image, which may be committed; or all that it goes
    // back to and simulates again, as far as it came.
    enum class Stays { all, image, ticks } stays = Stays::all;
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

// As far as it came; what the last step wrote without being committed is taken back.
Status restore_on(StateRing& ring, const Files& files) {
    if (ring.newest() >= kTarget) return restore(ring, files);
    if (const auto done = ring.rollback(ring.newest()); !done) return done.status();
    return simulate_to(ring, kTarget);
}

Status test_sync(StateRing& ring, const Files&) {
    const auto outcome = sync_test(ring, 3, [&](Tick tick) { simulate(ring, tick); });
    if (outcome) {
        EXPECT_EQ(outcome->ticks, 3U);
        EXPECT_FALSE(outcome->differs);
    }
    return outcome.status();
}

Status test_sync_on(StateRing& ring, const Files& files) {
    if (ring.newest() == kLast) return test_sync(ring, files);
    if (const auto done = ring.rollback(ring.newest()); !done) return done.status();
    return simulate_to(ring, kLast);
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
    Operation{"Commit", commit},
    Operation{"CommitThenUndo", commit, undo},
    Operation{"CommitThenRollback", commit, roll_back},
    Operation{"Rollback", roll_back},
    Operation{"RollbackThenCommit", roll_back, commit},
    Operation{"Undo", undo},
    Operation{"Branch", branch},
    Operation{"BranchThenRollback", branch, roll_back},
    Operation{"Restore", restore, restore_on, Operation::Stays::ticks},
    Operation{"SyncTest", test_sync, test_sync_on, Operation::Stays::ticks},
    Operation{"View", read_past},
    Operation{"Save", save, nullptr, Operation::Stays::all, true},
    Operation{"Load", load, nullptr, Operation::Stays::image, true},
};

int count_open_files() {
    int count = 0;
    for (int descriptor = 0; descriptor < 256; ++descriptor)
        count += ::fcntl(descriptor, F_GETFD) >= 0 ? 1 : 0;
    return count;
}

// The past until where it came is what it was; thinned ticks that were simulated again can be read now.
void expect_same_ticks(const RingPicture& before, const RingPicture& after) {
    EXPECT_LE(after.newest, before.newest);
    for (Tick tick = after.oldest; tick <= after.newest; ++tick) {
        const RingPicture::Past& was = before.past[tick];
        const RingPicture::Past& is = after.past[tick];
        EXPECT_EQ(was.portable, is.portable) << tick;
        EXPECT_EQ(was.process_bound, is.process_bound) << tick;
        EXPECT_TRUE(is.status == Status::ok || is.status == was.status) << tick;
        EXPECT_TRUE(was.status != Status::ok || was.bytes == is.bytes) << tick;
    }
}

void expect_stays(const Operation& operation, const RingPicture& before, const RingPicture& after) {
    using enum Operation::Stays;
    if (operation.stays == all) {
        EXPECT_TRUE(before == after);
    }
    if (operation.stays == image) {
        EXPECT_EQ(before.image, after.image);
        // What there was may have been committed.
        EXPECT_LE(after.newest, before.newest + 1);
    }
    if (operation.stays == ticks) {
        EXPECT_TRUE(after.newest != before.newest || before == after);
        expect_same_ticks(before, after);
    }
}

// By number, a failed load may be one further.
void expect_result(const Operation& operation, const RingPicture& wanted, const RingPicture& is) {
    EXPECT_EQ(wanted.image, is.image);
    if (operation.stays == Operation::Stays::image) {
        EXPECT_EQ(wanted.past[wanted.newest].portable, is.past[is.newest].portable);
        EXPECT_EQ(wanted.past[wanted.newest].bytes, is.past[is.newest].bytes);
        return;
    }
    EXPECT_EQ(wanted.newest, is.newest);
    EXPECT_EQ(wanted.oldest, is.oldest);
    for (Tick tick = wanted.oldest; tick <= wanted.newest; ++tick) {
        EXPECT_EQ(wanted.past[tick].portable, is.past[tick].portable) << tick;
        EXPECT_EQ(wanted.past[tick].process_bound, is.past[tick].process_bound) << tick;
        EXPECT_EQ(wanted.past[tick].status, is.past[tick].status) << tick;
        EXPECT_EQ(wanted.past[tick].bytes, is.past[tick].bytes) << tick;
    }
}

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
        run_done_ = result_of(operation().run);
        resume_done_ = result_of(resume());
        save_older();
    }
    void TearDown() override {
        inject::clear();
        std::filesystem::remove_all(files_.folder);
    }

    [[nodiscard]] static const RingKind& kind() { return std::get<0>(GetParam()); }
    [[nodiscard]] static const Operation& operation() { return std::get<1>(GetParam()); }
    [[nodiscard]] static auto resume() -> decltype(Operation::run) {
        return operation().resume != nullptr ? operation().resume : operation().run;
    }

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
    bool fail_once(OsCall call, std::uint64_t nth) {
        auto ring = make_used_ring(kind());
        EXPECT_TRUE(ring);
        if (operation().run == save) save_older();
        const RingPicture before = picture_of(*ring);
        const int open_files = count_open_files();
        inject::fail_nth(call, nth, ENOMEM);
        const Status status = operation().run(*ring, files_);
        const bool fired = inject::has_fired();
        inject::clear();
        EXPECT_EQ(count_open_files(), open_files);
        EXPECT_TRUE(fired || status == Status::ok);
        expect_file(*ring, status == Status::ok);
        if (status == Status::ok) {
            expect_result(operation(), run_done_, picture_of(*ring));
            return fired;
        }
        ++failures_;
        expect_stays(operation(), before, picture_of(*ring));
        EXPECT_EQ(resume()(*ring, files_), Status::ok);
        expect_file(*ring, true);
        expect_result(operation(), resume_done_, picture_of(*ring));
        EXPECT_EQ(simulate_to(*ring, ring->newest() + 3), Status::ok);
        EXPECT_EQ(ring->check(), Status::ok);
        EXPECT_EQ(count_open_files(), open_files);
        return fired;
    }

    // What leaks does so each time, a sanitizer's own page does not.
    bool fail_once_without_leak(OsCall call, std::uint64_t nth) {
        std::string left_behind;
        for (int attempt = 0; attempt < 3; ++attempt) {
            NoMappingLeak::mark();
            const bool fired = fail_once(call, nth);
            left_behind = NoMappingLeak::difference();
            if (left_behind.empty() || HasFailure()) return fired;
        }
        EXPECT_EQ(left_behind, "");
        return false;
    }

    Files files_;
    RingPicture run_done_;
    RingPicture resume_done_;
    unsigned failures_ = 0;
    unsigned fired_ = 0;
};

TEST_P(RingOperationFaults, HappensOrChangesNothing) {
    for (unsigned call = 0; call < os::kOsCallCount; ++call) {
        for (std::uint64_t nth = 1; nth < 200; ++nth) {
            SCOPED_TRACE(std::string(inject::name_of(static_cast<OsCall>(call))) + " " + std::to_string(nth));
            const bool fired = fail_once_without_leak(static_cast<OsCall>(call), nth);
            if (HasFailure()) return;
            if (!fired) break;
            ++fired_;
        }
    }
    // Reading the past asks nothing of the system, nor do ticks whose writes are declared or compared.
    const bool asks = operation().run != read_past &&
                      (kind().tracking == Tracking::kernel || kind().tracking == Tracking::protect);
    EXPECT_EQ(fired_ != 0, operation().uses_files || (asks && operation().run != save));
    // Pages that cannot be protected stay open, and are captured once more.
    const bool can_fail = operation().uses_files || (asks && kind().tracking == Tracking::kernel);
    EXPECT_EQ(failures_ != 0, can_fail);
}

INSTANTIATE_TEST_SUITE_P(Each, RingOperationFaults,
                         testing::Combine(testing::ValuesIn(kKinds), testing::ValuesIn(kOperations)),
                         [](const auto& tested) {
                             return std::string(std::get<0>(tested.param).name) +
                                    std::get<1>(tested.param).name;
                         });

}  // namespace
}  // namespace ouro::testing_support
