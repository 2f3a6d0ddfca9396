// The end of a tick: what was written is captured. Beside it, in the same rounds, a streaming copy of exactly
// those pages, and one of the whole image.
#include "harness/case.hpp"
#include "os/os_suite.hpp"
#include "ring/ring_scene.hpp"
#include "ring/ring_suite.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ouro::bench {
namespace {

std::uint64_t ticks_per_round(const PageLists& lists) {
    return std::max<std::uint64_t>(2, 4000 / lists.pages_per_tick());
}

// Writes without the clock, and times what follows, tick after tick.
template <class Capture>
Work timed_after_writes(RingScene& scene, const PageLists& lists, Capture capture, bool times_writes) {
    return [&scene, &lists, capture, times_writes](Round& round) {
        for (std::uint64_t tick = 0; tick < round.operations(); ++tick) {
            const auto& list = lists.at(tick);
            if (!times_writes) scene.write(list);
            round.time([&] {
                if (times_writes) scene.write(list);
                capture(list);
            });
        }
    };
}

// What was written and only copied is committed without the clock.
Work committed_after(RingScene& scene, Work work) {
    return [&scene, work = std::move(work)](Round& round) {
        work(round);
        scene.commit();
    };
}

// No commit of less than a tenth may take longer than whoever copies everything.
std::optional<Bar> bar_of_whole_copy(const WritePattern& pattern) {
    return pattern.permille < 100 ? std::optional<Bar>(ratio_at_most(1.0)) : std::nullopt;
}

void measure_declared(Session& session, RingScene& scene, const WritePattern& pattern, bool hashes) {
    const PageLists lists(pattern, scene.pages());
    RawCapture raw(scene.world(), session.sized(512 * kMiB, 4 * kMiB));
    const std::string name = std::string(hashes ? "commit with hash, declared, " : "commit, declared, ") +
                             pattern.name + " of " + size_name(scene.world().size);
    const auto commit = [&](const auto&) { scene.commit(); };
    const auto copy = [&](const auto& list) { hashes ? raw.copy_and_hash(list) : raw.copy(list); };
    const auto quietly = [&](Work work) { return committed_after(scene, std::move(work)); };
    const auto all = [&](const auto&) { raw.copy_all(); };
    session.measure(name, kMicroseconds)
        .ours(timed_after_writes(scene, lists, commit, false))
        .peer(hashes ? "copy + XXH3 of these pages" : "copy of these pages", "streaming",
              quietly(timed_after_writes(scene, lists, copy, false)), ratio_at_most(hashes ? 1.1 : 1.15))
        .peer("copy of the whole image", "streaming",
              quietly(sampled(timed_after_writes(scene, lists, all, false))), bar_of_whole_copy(pattern))
        .operations(ticks_per_round(lists))
        .different_results()
        .run();
}

// One word in each page: the lines go below what a copy of the pages takes.
void measure_fine(Session& session, RingScene& scene, const WritePattern& pattern) {
    const PageLists lists(pattern, scene.pages());
    RawCapture raw(scene.world(), session.sized(512 * kMiB, 4 * kMiB));
    const auto commit = [&](const auto&) { scene.commit(); };
    const auto copy = [&](const auto& list) { raw.copy(list); };
    const auto all = [&](const auto&) { raw.copy_all(); };
    session
        .measure("commit, fine, a word a page, " + pattern.name + " of " + size_name(scene.world().size),
                 kMicroseconds)
        .ours(timed_after_writes(scene, lists, commit, false))
        .peer("copy of these pages", "streaming",
              committed_after(scene, timed_after_writes(scene, lists, copy, false)),
              pattern.permille <= 10 ? std::optional<Bar>(ratio_at_most(1.0)) : std::nullopt)
        .peer("copy of the whole image", "streaming",
              committed_after(scene, sampled(timed_after_writes(scene, lists, all, false))),
              bar_of_whole_copy(pattern))
        .operations(ticks_per_round(lists))
        .different_results()
        .run();
}

void measure_kernel(Session& session, RingScene& scene, const WritePattern& pattern) {
    const PageLists lists(pattern, scene.pages());
    RawMapping plain = filled_memory(scene.world().size);
    RawCapture raw(plain.block(), session.sized(512 * kMiB, 4 * kMiB));
    const auto write_plain = [&](const std::vector<std::uint32_t>& list, std::uint64_t serial) {
        for (const std::uint32_t page : list)
            std::memcpy(plain.block().data + std::size_t{page} * kPage + serial * 64 % kPage, &serial,
                        sizeof(serial));
    };
    const auto raw_work = [&](auto capture) {
        return Work([&, capture](Round& round) {
            for (std::uint64_t tick = 0; tick < round.operations(); ++tick)
                round.time([&] {
                    write_plain(lists.at(tick), tick);
                    capture(lists.at(tick));
                });
        });
    };
    const double bar = pattern.is_recurring ? 2.5 : 6.0;
    auto measured = session.measure(
        "write + commit, kernel, " + pattern.name + " of " + size_name(scene.world().size), kMicroseconds);
    measured.ours(timed_after_writes(
                      scene, lists, [&](const auto&) { scene.commit(); }, true))
        .peer("write + copy of these pages", "streaming", raw_work([&](const auto& list) { raw.copy(list); }),
              pattern.permille >= 10 ? std::optional<Bar>(ratio_at_most(bar)) : std::nullopt)
        .peer("write + copy of the whole image", "streaming",
              sampled(raw_work([&](const auto&) { raw.copy_all(); })),
              ratio_at_most(pattern.permille == 1000 ? 1.2 : 1.0))
        .operations(ticks_per_round(lists))
        .different_results()
        .run();
}

void measure_image(Session& session, std::size_t bytes, std::uint64_t history) {
    for (const bool hashes : {false, true}) {
        RingScene declared(bytes, Tracking::declared, hashes, history);
        for (const WritePattern& pattern : commit_patterns())
            measure_declared(session, declared, pattern, hashes);
    }
    {
        RingScene fine(bytes, Tracking::declared, false, history, nullptr, true);
        for (const WritePattern& pattern : commit_patterns())
            measure_fine(session, fine, pattern);
    }
    RingScene kernel(bytes, Tracking::kernel, false, history);
    for (const WritePattern& pattern : commit_patterns())
        measure_kernel(session, kernel, pattern);
}

}  // namespace

void measure_commits(Session& session) {
    const std::size_t bytes = session.sized(100 * kMiB, 4 * kMiB);
    measure_image(session, bytes, bytes * 4 + 64 * kMiB);
    // Ten times as much, with the least history that holds it.
    measure_image(session, session.sized(1024 * kMiB, 8 * kMiB), session.sized(2600 * kMiB, 24 * kMiB));
}

}  // namespace ouro::bench
