// A packed history: what it takes, what it costs the tick, and what reading it costs. The scene has bodies as
// a physics library keeps them, most of whose fields stay as they are while the floats of those that move
// change.
#include "harness/case.hpp"
#include "os/os_suite.hpp"
#include "page_packing.hpp"
#include "ring/ring_scene.hpp"
#include "ring/ring_suite.hpp"

#include <ouro/jobs/job_pool.hpp>

#include <array>
#include <cmath>
#include <cstring>
#include <span>
#include <vector>

namespace ouro::bench {
namespace {

struct Body {
    std::array<float, 12> transform;
    std::array<float, 12> transform_before;
    std::array<float, 3> velocity;
    std::array<float, 3> spin;
    std::array<float, 30> constants;
    std::array<std::uint64_t, 14> links;
};
static_assert(sizeof(Body) == 352);

// A third of the bodies sleeps.
class Bodies {
public:
    explicit Bodies(std::span<Body> bodies) : bodies_(bodies) {
        Random random(11);
        const auto number = [&] { return static_cast<float>(random.below(20000)) * 0.01F - 100.0F; };
        for (Body& body : bodies_) {
            for (float& each : body.transform)
                each = number();
            for (float& each : body.constants)
                each = number();
            body.velocity = {number() * 0.01F, number() * 0.01F, number() * 0.01F};
            body.spin = {number() * 0.001F, number() * 0.001F, number() * 0.001F};
            for (std::uint64_t& each : body.links)
                each = 0x7f0000000000 + random.below(1 << 24) * 16;
        }
    }

    void step(StateRing& ring) {
        for (std::size_t index = 0; index < bodies_.size(); ++index) {
            if (index % 3 == 0) continue;
            move(bodies_[index]);
            (void)ring.mark(&bodies_[index], sizeof(Body));
        }
    }

private:
    static void move(Body& body) {
        constexpr float kStep = 1.0F / 60;
        body.transform_before = body.transform;
        body.velocity[1] -= 9.81F * kStep;
        if (body.transform[10] < -100) body.velocity[1] = -body.velocity[1] * 0.9F;
        for (std::size_t axis = 0; axis < 3; ++axis)
            body.transform[9 + axis] += body.velocity[axis] * kStep;
        // Turned a little about the spin.
        for (std::size_t row = 0; row < 3; ++row)
            for (std::size_t column = 0; column < 3; ++column)
                body.transform[3 * row + column] +=
                    (body.transform[3 * row + (column + 1) % 3] * body.spin[column] -
                     body.transform[3 * row + (column + 2) % 3] * body.spin[row]) *
                    kStep;
    }

    std::span<Body> bodies_;
};

// Bodies in a ring that ticks.
class BodyScene {
public:
    BodyScene(std::size_t bytes, StateRingOptions options)
        : segment_{.name = "world", .bytes = bytes}, bodies_({}) {
        options.segments = {&segment_, 1};
        options.prefaults = true;
        ring_ = must(StateRing::create(options), "create the ring");
        const MemoryBlock world = must(ring_.segment_block("world"), "find the segment");
        bodies_ = Bodies({reinterpret_cast<Body*>(world.data), world.size / sizeof(Body)});
        must(ring_.mark(world.data, world.size) == Status::ok, "mark");
        (void)must(ring_.commit(), "commit");
    }

    [[nodiscard]] StateRing& ring() { return ring_; }
    void step() { bodies_.step(ring_); }
    void commit() { (void)must(ring_.commit(), "commit"); }
    void run(std::uint64_t ticks) {
        for (; ticks != 0; --ticks) {
            step();
            commit();
        }
    }

private:
    SegmentOptions segment_;
    StateRing ring_;
    Bodies bodies_;
};

Work known(double figure) {
    return [=](Round& round) { round.add_figure(figure); };
}

void measure_memory(Session& session) {
    const std::size_t bytes = session.sized(2 * kMiB, kMiB / 4);
    const std::uint64_t ticks = session.sized(600, 60);
    const auto percent_with = [&](std::uint32_t dense_ticks) {
        BodyScene scene(bytes, {.segments = {},
                                .history_ticks = static_cast<std::uint32_t>(ticks) + 1,
                                .history_bytes = bytes * ticks + 64 * kMiB,
                                .packing = true,
                                .dense_ticks = dense_ticks});
        const StateRingStats before = scene.ring().stats();
        ChangedPages changed(scene.ring());
        for (std::uint64_t tick = 0; tick < ticks; ++tick) {
            scene.run(1);
            changed.count(scene.ring());
        }
        return percent_of_pages(scene.ring(), before, changed.total());
    };
    session
        .measure("memory of " + std::to_string(ticks) + " ticks, packed, of that of the pages that changed",
                 kPercent)
        .ours(known(percent_with(32)))
        .operations(1)
        .rounds_at_most(1)
        .bar(value_at_most(35))
        .note("a scene of bodies; 32 ticks whole; without the index: some 20 bytes a page")
        .run();
}

// Pages of the scene one tick apart.
struct PagePair {
    std::vector<std::byte> before;
    std::vector<std::byte> after;
};

PagePair page_pair(std::size_t bytes) {
    BodyScene scene(bytes, {.segments = {}, .history_ticks = 4, .history_bytes = 8 * bytes});
    scene.run(30);
    const MemoryBlock world = must(scene.ring().segment_block("world"), "find the segment");
    PagePair pair;
    pair.before.assign(world.begin(), world.end());
    scene.step();
    pair.after.assign(world.begin(), world.end());
    return pair;
}

// The sizes without and with the second step, which not every platform has, and what both take.
void measure_codec(Session& session) {
    const PagePair pair = page_pair(session.sized(4 * kMiB, kMiB / 4));
    const std::uint64_t pages = pair.before.size() / kPage;
    std::vector<std::byte> packed(detail::kMaxPackedBytes);
    std::vector<std::byte> squeezed(detail::kMaxPackedBytes);
    std::uint64_t packed_bytes = 0;
    std::uint64_t squeezed_bytes = 0;
    for (std::uint64_t page = 0; page < pages; ++page) {
        const std::size_t size =
            detail::pack_difference(&pair.before[page * kPage], &pair.after[page * kPage], packed.data());
        const std::size_t less = detail::squeeze({packed.data(), size}, squeezed.data());
        packed_bytes += size;
        squeezed_bytes += less != 0 ? less : size;
    }
    const double whole = static_cast<double>(pages * kPage) / 100;
    session.measure("packed difference of a page, of its size", kPercent)
        .ours(known(static_cast<double>(squeezed_bytes) / whole))
        .peer("words alone", "ours", known(static_cast<double>(packed_bytes) / whole))
        .operations(1)
        .rounds_at_most(1)
        .run();
    const auto pack = [&](bool squeezes) {
        return repeat([&, squeezes](std::uint64_t i) {
            const std::size_t at = i % pages * kPage;
            const std::size_t size =
                detail::pack_difference(&pair.before[at], &pair.after[at], packed.data());
            if (squeezes) keep(detail::squeeze({packed.data(), size}, squeezed.data()));
            keep(size);
        });
    };
    session.measure("pack the difference of a page", kNanoseconds)
        .ours(pack(true))
        .peer("words alone", "ours", pack(false))
        .different_results()
        .run();
}

void measure_tick(Session& session) {
    const std::size_t bytes = session.sized(16 * kMiB, kMiB);
    auto jobs = must(JobPool::create({.workers = 1}), "start a worker");
    const StateRingOptions plain{.segments = {}, .history_ticks = 100, .history_bytes = bytes * 40};
    StateRingOptions packing = plain;
    packing.packing = true;
    packing.dense_ticks = 8;
    packing.history_bytes = bytes * 44;
    StateRingOptions by_worker = packing;
    by_worker.jobs = &jobs;
    BodyScene off(bytes, plain);
    BodyScene on(bytes, by_worker);
    BodyScene here(bytes, packing);
    const auto commit = [](BodyScene& scene) {
        return [&scene](Round& round) {
            scene.step();
            round.time([&] { scene.commit(); });
        };
    };
    session.measure("commit, packed by a worker, bodies of " + size_name(bytes), kMicroseconds)
        .ours(commit(on))
        .peer("not packed", "ours", commit(off))
        .peer("packed in the commit", "ours", commit(here))
        .operations(1)
        .median()
        .on_any_core()
        .different_results()
        .run();
}

void measure_old_ticks(Session& session) {
    const std::size_t bytes = session.sized(16 * kMiB, kMiB);
    const StateRingOptions plain{.segments = {}, .history_ticks = 100, .history_bytes = bytes * 110};
    StateRingOptions packing = plain;
    packing.packing = true;
    packing.dense_ticks = 8;
    BodyScene off(bytes, plain);
    BodyScene on(bytes, packing);
    off.run(80);
    on.run(80);
    const auto read = [](BodyScene& scene) {
        return [&scene](Round& round) {
            const std::uint32_t first = kSegmentAlignment / kStatePageBytes;
            const auto view = must(scene.ring().view(scene.ring().newest() - 60), "view");
            round.time([&] {
                for (std::uint32_t page = 0; page < round.operations(); ++page)
                    keep(*view.page(first + page));
            });
        };
    };
    session.measure("read a page of a tick 60 back, packed", kNanoseconds)
        .ours(read(on))
        .peer("not packed", "ours", read(off))
        .operations(bytes / kStatePageBytes)
        .different_results()
        .run();
    const auto go_back = [](BodyScene& scene) {
        return [&scene](Round& round) {
            round.time([&] { must(scene.ring().rollback(scene.ring().newest() - 60), "rollback"); });
            scene.run(60);
        };
    };
    session.measure("rollback of 60 ticks, packed, bodies of " + size_name(bytes), kMicroseconds)
        .ours(go_back(on))
        .peer("not packed", "ours", go_back(off))
        .operations(1)
        .rounds_at_most(5)
        .different_results()
        .run();
}

}  // namespace

void measure_packing(Session& session) {
    measure_memory(session);
    measure_codec(session);
    measure_tick(session);
    measure_old_ticks(session);
}

}  // namespace ouro::bench
