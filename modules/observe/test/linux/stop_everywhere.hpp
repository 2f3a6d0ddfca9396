#pragma once

#include <cstddef>
#include <functional>

// Stops a piece of code in front of each of its instructions in turn, while another thread does what could
// meet it there: races that a stress test would take years to hit. A run step by step finds the instructions;
// then each is a breakpoint once.
namespace ouro::test {

// What another thread does: something before the steps begin, something when the first is stopped, and, if it
// is given, something when the first went on and is stopped again.
struct OtherWork {
    std::function<void()> before = [] {};
    std::function<void()> meanwhile = [] {};
    std::function<void()> then = {};
};

struct Scene {
    std::function<void()> prepare;
    std::function<void()> stepped;
    OtherWork other;
    std::function<void()> check;
    // Whether the stop, or the first of two, may be here: anywhere unless it is given. Asked by the stepped
    // thread, in front of each instruction.
    std::function<bool()> is_first_stop = {};
    // Not once, but each time that it comes to one of two instructions, in turns.
    bool is_repeated = false;
};

// Stops the stepped part in front of each of its instructions, the first time that it comes there. Fails when
// there are fewer than that, or where code cannot be written to. Two stops: of all pairs one in a few, so
// that a stretch of some instructions has one of them surely.
void stop_everywhere(const Scene& scene, std::size_t least_stops);

}  // namespace ouro::test
