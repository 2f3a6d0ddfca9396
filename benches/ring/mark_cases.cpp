// What it costs to declare writes: a loop over a column that marks each element, beside the same loop
// without.
#include "harness/case.hpp"
#include "os/os_suite.hpp"
#include "ring/ring_scene.hpp"
#include "ring/ring_suite.hpp"

#include <ouro/streams/mark_cursor.hpp>

#include <cstdint>
#include <span>

namespace ouro::bench {
namespace {

// As a system moves things: a little arithmetic for each, so that the loop is what programs have.
template <class Mark>
void move_all(std::span<float> positions, Mark mark) {
    for (float& position : positions) {
        mark(position);
        position = position * 0.999F + 0.5F;
    }
}

}  // namespace

void measure_marks(Session& session) {
    const std::size_t bytes = session.sized(4 * kMiB, kMiB);
    RingScene scene(bytes, Tracking::declared, false, bytes * 8 + 4 * kMiB);
    const std::span positions(reinterpret_cast<float*>(scene.world().data), session.sized(100'000, 10'000));
    const auto work = [&](auto mark) {
        return Work([&, mark](Round& round) {
            scene.commit();
            round.time([&] {
                for (std::uint64_t done = 0; done < round.operations(); done += positions.size())
                    move_all(positions, mark);
            });
        });
    };
    DirtyMap marks = scene.ring().marks();
    session.measure("mark each of 100,000 floats of a column", kNanoseconds)
        .ours([&](Round& round) {
            scene.commit();
            round.time([&] {
                for (std::uint64_t done = 0; done < round.operations(); done += positions.size()) {
                    MarkCursor cursor(marks);
                    move_all(positions,
                             [&](const float& value) { (void)cursor.mark(&value, sizeof(value)); });
                }
            });
        })
        .peer("the loop without marks", "this tree", work([](const float&) {}))
        .bar(difference_at_most(1))
        .operations(10 * positions.size())
        .different_results()
        .note("with a MarkCursor")
        .run();
    session.measure("mark each of 100,000 floats, each by itself", kNanoseconds)
        .ours(work([&](const float& value) { (void)marks.mark(&value, sizeof(value)); }))
        .peer("the loop without marks", "this tree", work([](const float&) {}))
        .operations(10 * positions.size())
        .different_results()
        .run();
    session.measure("mark 100,000 floats of a column at once", kNanoseconds)
        .ours([&](Round& round) {
            scene.commit();
            round.time([&] {
                for (std::uint64_t done = 0; done < round.operations(); done += positions.size()) {
                    (void)marks.mark(positions.data(), positions.size_bytes());
                    move_all(positions, [](const float&) {});
                }
            });
        })
        .peer("the loop without marks", "this tree", work([](const float&) {}))
        .bar(difference_at_most(1))
        .operations(10 * positions.size())
        .different_results()
        .run();
}

}  // namespace ouro::bench
