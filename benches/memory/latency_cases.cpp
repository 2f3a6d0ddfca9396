// How long single calls take: the slow ones among many. Every call is timed by itself with the processor's
// counter, which is not free: its own cost is measured in the same way and subtracted.
#include "memory/general_case.hpp"
#include "memory/memory_suite.hpp"
#include "memory/object_checks.hpp"
#include "os/os_suite.hpp"

#include <ouro/os/clock.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace ouro::bench {
namespace {

// Sizes as small objects have them.
constexpr std::size_t kLeastBytes = 16;
constexpr std::size_t kMostBytes = 256;

enum class Call : unsigned char { allocate, free };

// Requires: not empty, fraction within 0 and 1.
std::uint32_t percentile(std::vector<std::uint32_t>& samples, double fraction) {
    const auto last = static_cast<double>(samples.size() - 1);
    const auto place = samples.begin() + static_cast<std::ptrdiff_t>(last * fraction);
    std::nth_element(samples.begin(), place, samples.end());
    return *place;
}

// What the counter's ticks mean, and what reading it costs.
struct TickScale {
    double ns_per_tick = 1;
    std::uint32_t cost_ticks = 0;
    // By how much its readings differ at least.
    std::uint32_t step_ticks = 1;

    // Never zero: a call that hides within a step of the counter took a part of it.
    [[nodiscard]] double ns_of(std::uint32_t ticks) const noexcept {
        const std::uint32_t net = ticks > cost_ticks ? ticks - cost_ticks : 0;
        return static_cast<double>(std::max(net, step_ticks)) * ns_per_tick;
    }
};

// The least distance between readings that are not rare: disturbances give any.
std::uint32_t step_of(std::vector<std::uint32_t> costs) {
    const std::size_t not_rare = costs.size() / 1'000;
    std::sort(costs.begin(), costs.end());
    std::uint32_t step = 0;
    std::uint32_t previous = 0;
    for (auto begin = costs.begin(); begin != costs.end();) {
        const auto end = std::upper_bound(begin, costs.end(), *begin);
        if (static_cast<std::size_t>(end - begin) > not_rare) {
            if (step == 0 || *begin - previous < step) step = *begin - previous;
            previous = *begin;
        }
        begin = end;
    }
    return std::max(step, 1U);
}

TickScale measure_scale() {
    constexpr std::size_t kReadings = 100'000;
    std::vector<std::uint32_t> costs(kReadings);
    const std::uint64_t begin_ns = os::monotonic_ns();
    const std::uint64_t begin = read_cycle_counter_in_order();
    for (std::uint32_t& cost : costs) {
        const std::uint64_t before = read_cycle_counter_in_order();
        cost = static_cast<std::uint32_t>(read_cycle_counter_in_order() - before);
    }
    const std::uint64_t ticks = read_cycle_counter_in_order() - begin;
    const std::uint64_t ns = os::monotonic_ns() - begin_ns;
    TickScale scale;
    scale.ns_per_tick = static_cast<double>(ns) / static_cast<double>(ticks);
    scale.cost_ticks = percentile(costs, 0.5);
    scale.step_ticks = step_of(std::move(costs));
    return scale;
}

struct LatencyPlan {
    Call call = Call::allocate;
    double fraction = 0.5;
    std::size_t live = 0;
    std::size_t samples = 0;
    TickScale scale;
};

struct Held {
    void* object = nullptr;
    std::size_t size = 0;
};

// A random object goes, another comes: both timed, and the percentile of one of them is the figure.
template <class Heap>
Work timed_calls(const Heap& owner, const LatencyPlan& plan) {
    return [owner, plan](Round& round) {
        const Heap heap = owner;
        Lottery lottery(11);
        std::vector<Held> held(plan.live);
        std::vector<std::uint32_t> samples(plan.samples);
        for (Held& one : held) {
            one.size = lottery.size_between(kLeastBytes, kMostBytes);
            stamp(one.object = heap.allocate(one.size));
        }
        std::uint64_t sound = 0;
        for (std::uint32_t& sample : samples) {
            Held& one = held[lottery.below(held.size())];
            sound += has_stamp(one.object) ? 1U : 0U;
            std::size_t size = lottery.size_between(kLeastBytes, kMostBytes);
            // Drawn now, and not where the compiler likes it best: between the readings of the counter.
            keep(size);
            const std::uint64_t start = read_cycle_counter_in_order();
            heap.free(one.object, one.size);
            const std::uint64_t middle = read_cycle_counter_in_order();
            one.object = heap.allocate(size);
            const std::uint64_t end = read_cycle_counter_in_order();
            one.size = size;
            stamp(one.object);
            sample = static_cast<std::uint32_t>(plan.call == Call::free ? middle - start : end - middle);
        }
        round.add_time(plan.scale.ns_of(percentile(samples, plan.fraction)));
        round.check(sound);
        for (const Held& one : held)
            heap.free(one.object, one.size);
    };
}

struct Grade {
    const char* name;
    double fraction;
    std::optional<Bar> bar;
};

void measure_grade(Session& session, const MallocPeers& peers, LatencyPlan plan, const Grade& grade) {
    plan.fraction = grade.fraction;
    const std::string what = plan.call == Call::allocate ? "allocate" : "free";
    const TickScale& scale = plan.scale;
    const std::string note = "every call timed; the counter costs " +
                             std::to_string(static_cast<int>(scale.cost_ticks * scale.ns_per_tick + 0.5)) +
                             " ns, subtracted, and steps by " +
                             std::to_string(static_cast<int>(scale.step_ticks * scale.ns_per_tick + 0.5)) +
                             " ns";
    measure_general(
        session, peers, std::string(grade.name) + " of " + what + ", 16-256 B", kNanoseconds,
        {grade.bar, grade.bar}, Sharing::one_thread,
        [&](const auto& heap) { return timed_calls(heap, plan); },
        [&](Case& row) { row.operations(1).rounds_at_most(7).median().note(note); });
}

}  // namespace

void measure_latency(Session& session, const MallocPeers& peers) {
    const Grade grades[] = {
        {"P50", 0.5, value_at_most(80)}, {"P99", 0.99, value_at_most(200)}, {"P99.9", 0.999, std::nullopt}};
    LatencyPlan plan;
    plan.live = session.sized(10'000, 500);
    plan.samples = session.sized(100'000, 1'000);
    plan.scale = measure_scale();
    for (const Call call : {Call::allocate, Call::free}) {
        plan.call = call;
        for (const Grade& grade : grades)
            measure_grade(session, peers, plan, grade);
    }
}

}  // namespace ouro::bench
