// A reader of packed ticks may be stopped anywhere, for any time: the simulation goes on, and the reader sees
// its tick when it comes back. Here the reader's own thread simulates at the steps where it could be stopped:
// whatever waited for it would wait for ever.
#include "ring_pause.hpp"
#include "slot_readers.hpp"

#include <ouro/base/random.hpp>
#include <ouro/streams/state_ring.hpp>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace ouro {
namespace {

using detail::ReadPause;

constexpr std::uint32_t kPages = 12;
constexpr SegmentOptions kWorld{.name = "world", .bytes = kPages * kStatePageBytes};
constexpr SegmentOptions kFineWorld{.name = "world", .bytes = kPages * kStatePageBytes, .fine = true};
constexpr auto kFirstPage = static_cast<std::uint32_t>(kSegmentAlignment / kStatePageBytes);

using Pages = std::vector<std::byte>;

struct Kind {
    const char* name;
    bool fine;
    bool packing;
    std::uint32_t thinned_ticks;
};

class StoppedReader : public testing::TestWithParam<Kind> {
public:
    // The past is short, so that a slot is soon another's.
    void begin() {
        watched_.clear();
        const Kind& kind = GetParam();
        auto ring = StateRing::create({.segments = {kind.fine ? &kFineWorld : &kWorld, 1},
                                       .history_ticks = 24,
                                       .history_bytes = 6 << 20,
                                       .packing = kind.packing,
                                       .dense_ticks = 3,
                                       .unpacked_bytes = 1 << 20,
                                       .thinned_ticks = kind.thinned_ticks,
                                       .thin_every = 4});
        ASSERT_TRUE(ring) << status_name(ring.status());
        ring_ = *std::move(ring);
        random_ = Random(17);
        kept_.clear();
        run(30);
    }
    void TearDown() override { detail::read_pause = nullptr; }

    // Each tick has other bytes in a few lines of most pages, and now and then all of a page.
    void run(int ticks) {
        for (; ticks != 0; --ticks) {
            const MemoryBlock world = *ring_.segment_block("world");
            for (std::uint32_t page = 0; page < kPages; ++page)
                if (random_.below(4) != 0) write(world.data + page * kStatePageBytes);
            ASSERT_TRUE(ring_.commit());
            kept_[ring_.newest()] = Pages(world.data, world.data + world.size);
        }
    }
    void write(std::byte* page) {
        if (random_.below(16) == 0) {
            for (std::size_t at = 0; at < kStatePageBytes; at += sizeof(std::uint64_t)) {
                const std::uint64_t number = random_.next();
                std::memcpy(page + at, &number, sizeof(number));
            }
            ASSERT_EQ(ring_.mark(page, kStatePageBytes), Status::ok);
            return;
        }
        for (std::uint32_t count = 1 + random_.below(3); count != 0; --count) {
            std::byte* const at = page + random_.below(kStatePageBytes / 64) * 64;
            const std::uint64_t number = random_.next();
            std::memcpy(at, &number, sizeof(number));
            ASSERT_EQ(ring_.mark(at, sizeof(number)), Status::ok);
        }
    }

    // A tick that is far back, of which nothing is unpacked yet.
    [[nodiscard]] Tick old_tick(Tick more = 0) const { return *ring_.nearest(ring_.oldest() + 4 + more); }
    // One that is packed against the newest, or against the last that are not packed.
    [[nodiscard]] Tick new_tick() const { return ring_.newest() - (GetParam().fine ? 2 : 5); }
    void expect_page(const TickView& view, std::uint32_t page) {
        const Pages& expected = watched_.at(view.tick());
        EXPECT_EQ(
            std::memcmp(view.page(kFirstPage + page), &expected[page * kStatePageBytes], kStatePageBytes), 0)
            << "page " << page << " of tick " << view.tick();
    }
    [[nodiscard]] TickView watch(Tick tick) {
        auto view = ring_.view(tick);
        EXPECT_TRUE(view) << status_name(view.status());
        watched_[tick] = kept_.at(tick);
        return view ? *std::move(view) : TickView{};
    }
    // Nobody writes to a version that is looked at. Behind records in a slot there may come others.
    template <class GoOn>
    void expect_unchanged(const std::byte* slot, GoOn go_on) {
        const auto is_version = [&](const auto& each) {
            return std::memcmp(slot, &each.second[kPage * kStatePageBytes], kStatePageBytes) == 0;
        };
        const bool is_whole = slot != nullptr && std::ranges::any_of(kept_, is_version);
        const Pages before(slot, slot + (is_whole ? kStatePageBytes : 0));
        go_on();
        EXPECT_TRUE(before.empty() || std::memcmp(slot, before.data(), kStatePageBytes) == 0);
        versions_looked_at_ += is_whole ? 1 : 0;
    }
    // Stops at each visit of the step in turn.
    void expect_no_wait(const char* name, bool is_old, ReadPause step, const std::function<void()>& go_on);
    void expect_sound() { EXPECT_EQ(ring_.check(), Status::ok); }

    static constexpr std::uint32_t kPage = 3;

    StateRing ring_;
    Random random_{17};
    int versions_looked_at_ = 0;
    std::map<Tick, Pages> kept_;
    std::map<Tick, Pages> watched_;
};

// Stops at one visit of a step, and does something there; once.
struct Stop {
    static inline ReadPause step{};
    static inline int visit = 0;
    static inline int visits = 0;
    static inline std::function<void()> meanwhile;
    static inline const std::byte* slot = nullptr;

    static void pause(ReadPause at, const std::byte* looked_at) {
        if (at != step || visits++ != visit) return;
        slot = looked_at;
        const auto own = std::exchange(meanwhile, nullptr);
        if (own) own();
    }
    static void set(ReadPause at, int which, std::function<void()> what) {
        step = at;
        visit = which;
        visits = 0;
        meanwhile = std::move(what);
        detail::read_pause = pause;
    }
    // Whether it came to it.
    [[nodiscard]] static bool was_there() {
        detail::read_pause = nullptr;
        return meanwhile == nullptr;
    }
};

void StoppedReader::expect_no_wait(const char* name, bool is_old, ReadPause step,
                                   const std::function<void()>& go_on) {
    int stops = 0;
    for (bool was_there = true; was_there; stops += was_there ? 1 : 0) {
        SCOPED_TRACE(std::string(name) + " at stop " + std::to_string(stops) + " of step " +
                     std::to_string(static_cast<int>(step)));
        begin();
        const TickView view = watch(is_old ? old_tick() : new_tick());
        Stop::set(step, stops, [&] { expect_unchanged(Stop::slot, go_on); });
        expect_page(view, kPage);
        was_there = Stop::was_there();
        for (std::uint32_t page = 0; page < kPages; ++page)
            expect_page(view, page);
        expect_sound();
        if (HasFailure()) return;
    }
    // It looks for its way, and then at each record.
    EXPECT_GE(stops, step == ReadPause::slot_looked_at ? 2 : 1) << name;
}

// What a simulation may do meanwhile; so many commits that all of the past is another, and so are the slots.
constexpr int kAllOfThePast = 60;

struct Meanwhile {
    const char* name;
    void (*go_on)(StoppedReader& test);
};
constexpr Meanwhile kMeanwhile[] = {
    {"a tick", [](StoppedReader& test) { test.run(1); }},
    {"some ticks", [](StoppedReader& test) { test.run(9); }},
    {"all of the past", [](StoppedReader& test) { test.run(kAllOfThePast); }},
    {"back by a tick",
     [](StoppedReader& test) {
         ASSERT_TRUE(test.ring_.rollback(test.ring_.newest() - 1));
         test.run(8);
     }},
    {"back to a tick before",
     [](StoppedReader& test) {
         ASSERT_TRUE(test.ring_.rollback(*test.ring_.nearest(test.ring_.oldest() + 1)));
         test.run(12);
     }},
    {"back to a tick behind",
     [](StoppedReader& test) {
         ASSERT_TRUE(test.ring_.rollback(test.ring_.newest() - 6));
         test.run(40);
     }},
    {"a branch",
     [](StoppedReader& test) {
         const auto future = test.ring_.branch(*test.ring_.nearest(test.ring_.oldest() + 1));
         ASSERT_TRUE(future) << status_name(future.status());
         test.run(20);
         ASSERT_TRUE(test.ring_.drop(*future));
         test.run(20);
     }},
    {"another reader of the tick",
     [](StoppedReader& test) {
         const TickView other = test.watch(test.watched_.begin()->first);
         test.run(2);
         for (std::uint32_t page = 0; page < kPages; ++page)
             test.expect_page(other, page);
         test.run(kAllOfThePast);
     }},
};

// A tick of which all is packed, and one that is packed against what is whole.
TEST_P(StoppedReader, KeepsNobodyWaitingWhereverItIs) {
    for (const Meanwhile& each : kMeanwhile) {
        for (const bool is_old : {true, false}) {
            expect_no_wait(each.name, is_old, ReadPause::slot_looked_at, [&] { each.go_on(*this); });
            expect_no_wait(each.name, is_old, ReadPause::page_unpacked, [&] { each.go_on(*this); });
            if (HasFailure()) return;
        }
    }
    EXPECT_GT(versions_looked_at_, 0);
}

// As many as can be, each stopped at another place, in a tick of its own.
TEST_P(StoppedReader, SoDoMany) {
    begin();
    std::function<void(std::uint32_t)> read = [&](std::uint32_t number) {
        if (number == detail::SlotReaders::kMost) return run(kAllOfThePast);
        const TickView view = watch(old_tick(number / 2));
        Stop::set(ReadPause::slot_looked_at, static_cast<int>(number % 3), [&] { read(number + 1); });
        expect_page(view, number % kPages);
        for (std::uint32_t page = 0; page < kPages; ++page)
            expect_page(view, page);
    };
    read(0);
    detail::read_pause = nullptr;
    expect_sound();
}

TEST_P(StoppedReader, KeepsNobodyWaitingWhereItEnds) {
    for (const Meanwhile& each : kMeanwhile) {
        SCOPED_TRACE(each.name);
        begin();
        TickView view = watch(old_tick());
        for (std::uint32_t page = 0; page < kPages; ++page)
            expect_page(view, page);
        Stop::set(ReadPause::view_left, 0, [&] { each.go_on(*this); });
        view = TickView{};
        EXPECT_TRUE(Stop::was_there());
        expect_sound();
    }
}

// A view ends when pages are about to be unpacked for it: none of them is left for who has its place next.
TEST_P(StoppedReader, EndsWhileItsPagesAreTakenAway) {
    int stops = 0;
    for (bool was_there = true; was_there && stops < 40; stops += was_there ? 1 : 0) {
        SCOPED_TRACE("stop " + std::to_string(stops));
        begin();
        TickView view = watch(old_tick());
        expect_page(view, 3);
        Stop::set(ReadPause::unpacked_for_reader, stops, [&] { view = TickView{}; });
        run(kAllOfThePast);
        was_there = Stop::was_there();
        const TickView next = watch(old_tick());
        run(kAllOfThePast);
        for (std::uint32_t page = 0; page < kPages; ++page)
            expect_page(next, page);
        expect_sound();
        if (HasFailure()) return;
    }
    EXPECT_GT(stops, 10);
}

// The other way round: a reader whose history changes at every look, again and again, has its page from the
// thread that changes it.
TEST_P(StoppedReader, IsServedWhereItNeverSucceeds) {
    static StoppedReader* test = nullptr;
    static int commits = 0;
    begin();
    test = this;
    commits = 0;
    const TickView view = watch(old_tick());
    detail::read_pause = [](ReadPause step, const std::byte*) {
        if (step != ReadPause::slot_looked_at || ++commits > 40) return;
        const auto pause = detail::read_pause.exchange(nullptr);
        test->run(1);
        detail::read_pause = pause;
    };
    expect_page(view, 3);
    detail::read_pause = nullptr;
    EXPECT_LE(commits, 20);
    for (std::uint32_t page = 0; page < kPages; ++page)
        expect_page(view, page);
    expect_sound();
}

INSTANTIATE_TEST_SUITE_P(Rings, StoppedReader,
                         testing::Values(Kind{"packed", false, true, 0}, Kind{"thinned", false, true, 24},
                                         Kind{"fine", true, false, 0}, Kind{"fine_packed", true, true, 0},
                                         Kind{"fine_thinned", true, true, 24}),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace ouro
