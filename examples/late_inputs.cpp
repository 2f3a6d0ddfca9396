// Two ships on two machines. The inputs of the other arrive three ticks late: until then they are guessed,
// and when a guess was wrong, the ticks since are simulated again.
#include <ouro/streams/image_heap.hpp>
#include <ouro/streams/sim_vec.hpp>
#include <ouro/streams/state_ring.hpp>

#include <array>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <utility>

using ouro::Tick;

constexpr Tick kFirst = 2;  // tick 1 is the initial state
constexpr Tick kLast = 120;
constexpr Tick kDelay = 3;

struct Ship {
    std::int32_t x, speed;
};
struct Match {
    ouro::SimVec<Ship> ships;
};
using Inputs = std::array<std::int32_t, 2>;  // of one tick, by ship

// What the players press.
static Inputs pressed(Tick tick) {
    return {tick % 7 < 3 ? 1 : -1, tick % 20 < 9 ? 2 : -1};
}

struct Machine {
    ouro::StateRing ring;
    std::optional<ouro::ImageHeap> heap;
    const Match* match = nullptr;            // in the image, at an address that no rollback changes
    std::array<Inputs, kLast + 1> inputs{};  // not in the image: a rollback must not take them back

    bool start() {
        const ouro::SegmentOptions world{.name = "world", .bytes = 1 << 20};
        auto made = ouro::StateRing::create(
            {.segments = {&world, 1}, .history_ticks = 60, .history_bytes = std::uint64_t{16} << 20});
        if (!made) return false;
        ring = *std::move(made);
        const auto in_world = ouro::ImageHeap::create(ring, "world");
        if (!in_world) return false;
        heap = *in_world;
        const auto root = heap->make_root<Match>("match");
        if (!root) return false;
        match = &heap->get(*root);
        return heap->bind(match->ships).resize(2) == ouro::Status::ok && ring.commit();
    }
    // Requires: the image is the tick before.
    bool simulate(Tick tick) {
        auto ships = heap->bind(match->ships);
        for (std::uint32_t number = 0; number < 2; ++number) {
            Ship& ship = ships.edit(number);  // marks it
            ship.speed += inputs[tick][number];
            ship.x += ship.speed;
        }
        const auto done = ring.commit();
        return done && *done == tick;
    }
    // What the other ship did at a tick is known now; that it goes on so is the next guess.
    bool correct(Tick tick, std::int32_t input) {
        if (inputs[tick][1] == input) return true;
        const Tick newest = ring.newest();
        for (Tick each = tick; each <= newest; ++each)
            inputs[each][1] = input;
        if (!ring.rollback(tick - 1)) return false;  // to simulate a tick again, go to the one before it
        for (Tick each = tick; each <= newest; ++each)
            if (!simulate(each)) return false;
        return true;
    }
};

int main() {
    Machine here, there;  // the other one waits for all inputs, to show what is right
    if (!here.start() || !there.start()) return 1;
    for (Tick tick = kFirst; tick <= kLast; ++tick) {
        here.inputs[tick] = {pressed(tick)[0], here.inputs[tick - 1][1]};  // ours, and a guess
        there.inputs[tick] = pressed(tick);
        if (!here.simulate(tick) || !there.simulate(tick)) return 1;
        if (tick < kFirst + kDelay) continue;
        const Tick late = tick - kDelay;
        if (!here.correct(late, pressed(late)[1])) return 1;
        if (*here.ring.hash(late) == *there.ring.hash(late)) continue;  // eight bytes to send
        std::printf("tick %u differs\n", static_cast<unsigned>(late));
        return 1;
    }
    const auto rollbacks = static_cast<unsigned>(here.ring.stats().rollbacks);
    std::printf("%u wrong guesses, the same hash in every tick; ship 1 is at %d\n", rollbacks,
                here.heap->bind(here.match->ships)[1].x);
    return rollbacks != 0 ? 0 : 1;
}
