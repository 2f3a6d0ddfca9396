#pragma once

#include "harness/case.hpp"
#include "harness/must.hpp"
#include "os/os_suite.hpp"
#include "ring/ring_scene.hpp"
#include "ring/ring_suite.hpp"

#include <ouro/os/steady_stack.hpp>
#include <ouro/streams/foreign_heap.hpp>
#include <ouro/streams/library_state.hpp>
#include <ouro/streams/state_ring.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace ouro::bench {

// A scene of foreign code in a ring, some ticks after its beginning.
template <class Scene>
class ForeignRun {
public:
    ForeignRun(int size, Tracking tracking, std::size_t segment_bytes,
               StateRingOptions options = {.history_bytes = std::uint64_t{1} << 30}) {
        const std::array segments = {
            SegmentOptions{.name = "foreign",
                           .bytes = segment_bytes,
                           .kind = SegmentKind::process_bound,
                           .tracking = tracking},
            SegmentOptions{.name = "outside", .bytes = 128 << 10, .kind = SegmentKind::process_bound}};
        options.segments = segments;
        ring_ = must(StateRing::create(options), "make a ring");
        for (const std::string_view library : Scene::kLibraries)
            (void)must(keep_library(ring_, "outside", library), "keep a library's variables");
        heap_ = must(ForeignHeap::create(ring_, "foreign"), "make a heap");
        scene_ = Scene::create(*heap_, size);
        for (int tick = 0; tick < kWarmUpTicks; ++tick) {
            step();
            commit();
        }
    }
    ~ForeignRun() {
        if constexpr (requires { Scene::end(scene_); }) Scene::end(scene_);
    }
    ForeignRun(const ForeignRun&) = delete;
    ForeignRun& operator=(const ForeignRun&) = delete;

    [[nodiscard]] StateRing& ring() { return ring_; }
    void step() {
        must(stack_.call([&] { scene_->step(++tick_); }) == Status::ok, "call");
    }
    void commit() { (void)must(ring_.commit(), "commit"); }
    // So that each round sees the same ticks.
    void go_back(Tick ticks) {
        must(ring_.rollback(ring_.newest() - ticks), "rollback");
        tick_ = ring_.newest();
    }

private:
    static constexpr int kWarmUpTicks = 60;

    StateRing ring_;
    std::optional<ForeignHeap> heap_;
    os::SteadyStack stack_;
    Scene* scene_ = nullptr;
    std::uint64_t tick_ = 0;
};

// What a tick costs where nobody looks for writes: the ring of it has no tick but the first.
template <class Scene>
void measure_tick_alone(Session& session, const std::string& name, int size, std::size_t bytes) {
    ForeignRun<Scene> run(size, Tracking::compare, bytes);
    session.measure(name + ": tick, no ring", kMicroseconds)
        .ours([&](Round& round) {
            for (std::uint64_t tick = 0; tick < round.operations(); ++tick)
                round.time([&] { run.step(); });
            run.go_back(0);
        })
        .operations(session.sized(30, 2))
        .run();
}

template <class Scene>
void measure_ticks(Session& session, const std::string& name, ForeignRun<Scene>& run) {
    const std::uint64_t ticks = session.sized(30, 2);
    const auto work = [&](bool times_step, bool times_commit) {
        return [&, times_step, times_commit](Round& round) {
            for (std::uint64_t tick = 0; tick < round.operations(); ++tick) {
                times_step ? round.time([&] { run.step(); }) : run.step();
                times_commit ? round.time([&] { run.commit(); }) : run.commit();
            }
            run.go_back(round.operations());
        };
    };
    session.measure(name + ": tick + commit", kMicroseconds).ours(work(true, true)).operations(ticks).run();
    session.measure(name + ": commit", kMicroseconds).ours(work(false, true)).operations(ticks).run();
    constexpr std::uint64_t kBack = 7;
    session.measure(name + ": back by 7 ticks", kMicroseconds)
        .ours([&](Round& round) {
            for (std::uint64_t tick = 0; tick < kBack; ++tick) {
                run.step();
                run.commit();
            }
            round.time([&] { run.go_back(kBack); });
        })
        .operations(1)
        .run();
}

inline void show_figure(Session& session, const std::string& name, Unit unit, double figure,
                        std::optional<Bar> bar = {}) {
    auto measured = session.measure(name, unit);
    measured.ours([=](Round& round) { round.add_figure(figure); }).operations(1).rounds_at_most(1);
    if (bar) measured.bar(*bar);
    measured.run();
}

// What ticks changed, and what the ring took for changed.
struct PagesOfTicks {
    std::uint64_t changed = 0;
    std::uint64_t captured = 0;
};

template <class Scene>
PagesOfTicks run_ticks(ForeignRun<Scene>& run, std::uint64_t ticks) {
    ChangedPages changed(run.ring());
    const std::uint64_t before = run.ring().stats().pages_captured;
    for (std::uint64_t tick = 0; tick < ticks; ++tick) {
        run.step();
        run.commit();
        changed.count(run.ring());
    }
    return {changed.total(), run.ring().stats().pages_captured - before};
}

// How much a history of whole pages would hold: what packing is measured against.
template <class Scene>
void measure_pages(Session& session, const std::string& name, ForeignRun<Scene>& run) {
    const std::uint64_t ticks = session.sized(600, 10);
    const PagesOfTicks pages = run_ticks(run, ticks);
    const auto changed = static_cast<double>(pages.changed);
    const auto captured = static_cast<double>(pages.captured);
    const std::string all = name + ": " + std::to_string(ticks) + " ticks, ";
    show_figure(session, name + ": pages changed a tick", {"page", 1}, changed / static_cast<double>(ticks));
    show_figure(session, name + ": pages captured a tick", {"page", 1},
                captured / static_cast<double>(ticks));
    show_figure(session, all + "changed pages, raw", kMebibytes,
                changed * static_cast<double>(kStatePageBytes));
}

// The same ticks in a packed history. Beside it what was captured, which is more than what changed.
template <class Scene>
void measure_packed(Session& session, const std::string& name, int size, std::size_t bytes) {
    const std::uint64_t ticks = session.sized(600, 10);
    ForeignRun<Scene> run(size, Tracking::automatic, bytes,
                          {.history_ticks = static_cast<std::uint32_t>(ticks) + 100,
                           .history_bytes = session.sized(3072, 512) * kMiB,
                           .packing = true});
    const StateRingStats before = run.ring().stats();
    const PagesOfTicks pages = run_ticks(run, ticks);
    const std::string all = name + ": " + std::to_string(ticks) + " ticks, packed, ";
    show_figure(session, all + "of the pages that changed", kPercent,
                percent_of_pages(run.ring(), before, pages.changed), value_at_most(35));
    show_figure(session, all + "of the pages that were captured", kPercent,
                percent_of_pages(run.ring(), before, pages.captured));
}

template <class Scene>
void measure_foreign(Session& session, const std::string& what, int size, std::size_t segment_bytes) {
    const std::string name = std::string(Scene::kName) + ", " + std::to_string(size) + " " + what;
    measure_tick_alone<Scene>(session, name, size, segment_bytes);
    // One at a time: a library has its variables once.
    {
        ForeignRun<Scene> run(size, Tracking::automatic, segment_bytes);
        measure_ticks(session, name, run);
        measure_pages(session, name, run);
    }
    measure_packed<Scene>(session, name, size, segment_bytes);
}

}  // namespace ouro::bench
