// What it costs to declare writes: a loop over a column that marks each element, beside the same loop
// without.
#include "harness/case.hpp"
#include "os/os_suite.hpp"
#include "ring/ring_scene.hpp"
#include "ring/ring_suite.hpp"

#include <ouro/streams/mark_cursor.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

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
    DirtyMap marks = scene.ring().marks();
    // What is done before each walk over the column gives what marks each element.
    const auto work = [&](auto begin) {
        return Work([&, begin](Round& round) {
            scene.commit();
            round.time([&] {
                for (std::uint64_t done = 0; done < round.operations(); done += positions.size())
                    move_all(positions, begin());
            });
        });
    };
    const auto nothing = [] { return [](const float&) {}; };
    const auto measure = [&](const std::string& name, Work ours, std::optional<Bar> bar) {
        Case row = session.measure(name, kNanoseconds);
        row.ours(std::move(ours)).peer("the loop without marks", "this tree", work(nothing), bar);
        row.operations(10 * positions.size()).different_results().run();
    };
    const auto with_cursor = [&] {
        return [cursor = MarkCursor(marks)](const float& value) mutable {
            (void)cursor.mark(&value, sizeof(value));
        };
    };
    measure("mark each of 100,000 floats of a column, by a cursor", work(with_cursor), difference_at_most(1));
    const auto each = [&] { return [&](const float& value) { (void)marks.mark(&value, sizeof(value)); }; };
    measure("mark each of 100,000 floats of a column by itself", work(each), std::nullopt);
    const auto at_once = [&] {
        (void)marks.mark(positions.data(), positions.size_bytes());
        return [](const float&) {};
    };
    measure("mark 100,000 floats of a column at once", work(at_once), difference_at_most(1));
}

}  // namespace ouro::bench
