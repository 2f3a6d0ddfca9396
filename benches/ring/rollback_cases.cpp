// Going back: the pages that changed since are restored. Beside it a plain copy of exactly those pages out of
// a copy of the whole image, as whoever keeps one a tick would do; of several in turn, since old ticks are
// not in the caches.
#include "harness/case.hpp"
#include "os/os_suite.hpp"
#include "ring/ring_scene.hpp"
#include "ring/ring_suite.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace ouro::bench {
namespace {

void measure_rollback(Session& session, RingScene& scene, const WritePattern& pattern, std::uint32_t ticks) {
    const PageLists lists(pattern, scene.pages());
    // A large one alone is more than any cache holds.
    const bool is_large = scene.world().size >= 512 * kMiB;
    const std::size_t copies = is_large ? 1 : 5;
    const RawMapping kept = filled_memory(copies * scene.world().size);
    std::vector<std::uint8_t> seen(scene.pages());
    std::vector<std::uint32_t> unique;
    for (std::uint32_t tick = 0; tick < ticks; ++tick)
        for (const std::uint32_t page : lists.at(tick))
            if (std::exchange(seen[page], std::uint8_t{1}) == 0) unique.push_back(page);
    std::ranges::sort(unique);
    std::size_t copy = 0;
    const auto go_forward = [&] {
        for (std::uint32_t tick = 0; tick < ticks; ++tick) {
            scene.write(lists.at(tick));
            scene.commit();
        }
    };
    session
        .measure("rollback of " + std::to_string(ticks) + " ticks, " + pattern.name + " of " +
                     size_name(scene.world().size),
                 kMicroseconds)
        .ours([&](Round& round) {
            go_forward();
            round.time([&] { must(scene.ring().rollback(scene.ring().newest() - ticks), "rollback"); });
        })
        .peer("copy of these pages", "memcpy",
              [&](Round& round) {
                  go_forward();
                  const std::byte* snapshot = kept.block().data + copy * scene.world().size;
                  copy = (copy + 1) % copies;
                  round.time([&] {
                      for (const std::uint32_t page : unique)
                          std::memcpy(scene.world().data + std::size_t{page} * kPage,
                                      snapshot + std::size_t{page} * kPage, kPage);
                  });
                  must(scene.ring().mark(scene.world().data, scene.world().size) == Status::ok, "mark");
                  must(scene.ring().rollback(scene.ring().newest() - ticks), "rollback");
              })
        .bar(ratio_at_most(1.15))
        .operations(1)
        .rounds_at_most(is_large ? 7 : 21)
        .different_results()
        .run();
}

void measure_usual_rollbacks(Session& session) {
    const std::size_t bytes = session.sized(100 * kMiB, 4 * kMiB);
    RingScene scene(bytes, Tracking::declared, false, bytes * 20);
    for (const std::uint32_t ticks : {1U, 7U, 60U}) {
        measure_rollback(session, scene, {"1 % random, recurring", 10, false, true}, ticks);
        measure_rollback(session, scene, {"1 % random", 10, false, false}, ticks);
        measure_rollback(session, scene, {"10 % random, recurring", 100, false, true}, ticks);
    }
}

// Ten times as much. A tenth of it in each of 60 ticks would be six times the image.
void measure_large_rollbacks(Session& session) {
    RingScene scene(session.sized(1024 * kMiB, 8 * kMiB), Tracking::declared, false,
                    session.sized(3600 * kMiB, 64 * kMiB));
    for (const std::uint32_t ticks : {1U, 7U, 60U}) {
        measure_rollback(session, scene, {"1 % random, recurring", 10, false, true}, ticks);
        measure_rollback(session, scene, {"1 % random", 10, false, false}, ticks);
        if (ticks != 60)
            measure_rollback(session, scene, {"10 % random, recurring", 100, false, true}, ticks);
    }
}

}  // namespace

void measure_rollbacks(Session& session) {
    measure_usual_rollbacks(session);
    measure_large_rollbacks(session);
}

}  // namespace ouro::bench
