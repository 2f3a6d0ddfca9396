#include "stop_everywhere.hpp"

#include <ouro/os/futex.hpp>
#include <ouro/os/thread.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <unordered_set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

namespace ouro::test {
namespace {

constexpr unsigned long long kTrapFlag = 0x100;
constexpr unsigned char kBreakpoint = 0xcc;

// From the linker: where the program's own code lies.
extern "C" const char __executable_start;
extern "C" const char etext;

bool is_own_code(std::uintptr_t address) noexcept {
    return address >= reinterpret_cast<std::uintptr_t>(&__executable_start) &&
           address < reinterpret_cast<std::uintptr_t>(&etext);
}

// What the handler of traps knows. One thread is stepped, or runs into a breakpoint.
struct Stepping {
    std::uint64_t thread = 0;
    // Stepped: each instruction that runs for the first time, in their order.
    bool is_stepping = false;
    std::unordered_set<std::uintptr_t> seen;
    std::vector<std::uintptr_t> instructions;
    // Which of them may be the stop, or the first of two.
    std::function<bool()> is_first_stop;
    std::vector<std::size_t> first_stops;
    // Stopped: the one that is a breakpoint, what it was before, and where the next one will be.
    unsigned char* breakpoint = nullptr;
    unsigned char covered = 0;
    std::uintptr_t next_stop = 0;
    std::uint32_t most_stops = 0;
    // How many stops were reached, and at how many of them the other has done its work.
    std::atomic<std::uint32_t> stops = 0;
    std::atomic<std::uint32_t> works = 0;
};
Stepping g_stepping;

void set(std::atomic<std::uint32_t>& word, std::uint32_t value) noexcept {
    word.store(value);
    os::wake_all(word);
}

// The other thread may wait for a lock that this one holds: then it is let go on after a while.
void wait_for_the_other() noexcept {
    constexpr std::uint64_t kPatienceNs = 2'000'000;
    const std::uint32_t stop = g_stepping.stops.load() + 1;
    set(g_stepping.stops, stop);
    for (std::uint32_t works = g_stepping.works.load(); works < stop; works = g_stepping.works.load()) {
        if (os::wait_on(g_stepping.works, works, kPatienceNs) == os::WaitOutcome::timed_out) return;
    }
}

void remove_breakpoint() noexcept {
    if (g_stepping.breakpoint == nullptr) return;
    *g_stepping.breakpoint = g_stepping.covered;
    g_stepping.breakpoint = nullptr;
}

// False when code cannot be changed here.
bool set_breakpoint(std::uintptr_t address) noexcept {
    const std::uintptr_t page = address / os::page_size() * os::page_size();
    auto* const instruction = reinterpret_cast<unsigned char*>(address);
    if (::mprotect(reinterpret_cast<void*>(page), os::page_size(), PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
        return false;
    g_stepping.covered = *instruction;
    g_stepping.breakpoint = instruction;
    *instruction = kBreakpoint;
    return true;
}

void on_trap(int, siginfo_t*, void* context) {
    auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
    const auto address = static_cast<std::uintptr_t>(registers[REG_RIP]);
    if (g_stepping.is_stepping) {
        // What it does in here, nobody interrupts.
        if (!is_own_code(address) || !g_stepping.seen.insert(address).second) return;
        if (!g_stepping.is_first_stop || g_stepping.is_first_stop())
            g_stepping.first_stops.push_back(g_stepping.instructions.size());
        g_stepping.instructions.push_back(address);
        return;
    }
    registers[REG_RIP] -= 1;
    remove_breakpoint();
    // The other one has the same code to run.
    if (os::this_thread_id() != g_stepping.thread) return;
    wait_for_the_other();
    const std::uintptr_t next = g_stepping.next_stop;
    if (next == 0 || g_stepping.stops.load() >= g_stepping.most_stops) return;
    g_stepping.next_stop = address - 1;
    static_cast<void>(set_breakpoint(next));
}

void begin_steps() noexcept {
    g_stepping.is_stepping = true;
    __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() | kTrapFlag);
}
void end_steps() noexcept {
    __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() & ~kTrapFlag);
    g_stepping.is_stepping = false;
}

class StepHandler {
public:
    StepHandler() {
        struct sigaction action = {};
        action.sa_sigaction = on_trap;
        action.sa_flags = SA_SIGINFO;
        ::sigaction(SIGTRAP, &action, &before_);
    }
    ~StepHandler() { ::sigaction(SIGTRAP, &before_, nullptr); }
    StepHandler(const StepHandler&) = delete;
    StepHandler& operator=(const StepHandler&) = delete;

private:
    struct sigaction before_ = {};
};

// How often the first can be stopped.
std::uint32_t most_stops(const Scene& scene) {
    constexpr std::uint32_t kMostRepeated = 8;
    if (scene.is_repeated) return kMostRepeated;
    return scene.other.then ? 2 : 1;
}

class Other {
public:
    explicit Other(OtherWork work) : work_(std::move(work)), thread_(*os::Thread::start(run, this)) {}
    ~Other() {
        take_turn(Turn::over);
        thread_.join();
    }
    Other(const Other&) = delete;
    Other& operator=(const Other&) = delete;

    void prepare() {
        take_turn(Turn::before);
        wait_while(Turn::before);
        take_turn(Turn::meanwhile);
    }
    // Whether or not the steps have reached it.
    void finish() {
        set(g_stepping.stops, g_stepping.most_stops);
        wait_while(Turn::meanwhile);
    }

private:
    enum class Turn : std::uint32_t { none, before, meanwhile, over };

    void take_turn(Turn turn) {
        turn_.store(static_cast<std::uint32_t>(turn));
        os::wake_all(turn_);
    }
    [[nodiscard]] Turn turn() const { return static_cast<Turn>(turn_.load()); }
    void wait_while(Turn last) const {
        while (turn() == last)
            os::wait_on(turn_, static_cast<std::uint32_t>(last));
    }
    static void run(void* other) {
        auto& self = *static_cast<Other*>(other);
        for (Turn turn = self.turn(); turn != Turn::over; turn = self.turn()) {
            if (turn == Turn::none) self.wait_while(Turn::none);
            if (turn == Turn::before) {
                self.work_.before();
                self.take_turn(Turn::none);
            }
            if (turn == Turn::meanwhile) {
                for (std::uint32_t stop = 1; stop <= g_stepping.most_stops; ++stop)
                    work_at_stop(stop, stop == 2 && self.work_.then ? self.work_.then : self.work_.meanwhile);
                self.take_turn(Turn::none);
            }
        }
    }
    static void work_at_stop(std::uint32_t stop, const std::function<void()>& work) {
        for (std::uint32_t stops = g_stepping.stops.load(); stops < stop; stops = g_stepping.stops.load())
            os::wait_on(g_stepping.stops, stops);
        work();
        set(g_stepping.works, stop);
    }

    OtherWork work_;
    std::atomic<std::uint32_t> turn_ = 0;
    os::Thread thread_;
};

enum class How : unsigned char { freely, stepping, stopping };

struct Stops {
    std::uintptr_t first = 0;
    std::uintptr_t second = 0;
};

// Plays it once. False when the stop could not be made.
bool play(const Scene& scene, Other& other, How how, Stops stops = {}) {
    bool is_made = true;
    scene.prepare();
    g_stepping.stops.store(0);
    g_stepping.works.store(0);
    other.prepare();
    g_stepping.next_stop = stops.second;
    if (how == How::stopping) is_made = set_breakpoint(stops.first);
    if (how == How::stepping) begin_steps();
    scene.stepped();
    if (how == How::stepping) end_steps();
    remove_breakpoint();
    other.finish();
    scene.check();
    return is_made;
}

// False when the test is over.
bool try_stops(const Scene& scene, Other& other, Stops stops) {
    if (!play(scene, other, How::stopping, stops)) {
        ADD_FAILURE() << "the system lets no program write into its code, which stops are made by";
        return false;
    }
    if (!testing::Test::HasFailure()) return true;
    ADD_FAILURE() << "stopped at " << reinterpret_cast<const void*>(stops.first) << " and "
                  << reinterpret_cast<const void*>(stops.second);
    return false;
}

void stop_once_everywhere(const Scene& scene, Other& other) {
    for (const std::size_t stop : g_stepping.first_stops) {
        if (!try_stops(scene, other, {.first = g_stepping.instructions[stop]})) return;
    }
}

void stop_twice_everywhere(const Scene& scene, Other& other) {
    // Where one is come to again and again, others are as good.
    const std::size_t stride = scene.is_repeated ? 25 : 5;
    const auto& instructions = g_stepping.instructions;
    for (std::size_t first = 0; first < g_stepping.first_stops.size(); first += stride) {
        const std::uintptr_t stop = instructions[g_stepping.first_stops[first]];
        // Any of them: it may come there again.
        for (std::size_t second = 0; second < instructions.size(); second += stride) {
            if (!try_stops(scene, other, {stop, instructions[second]})) return;
        }
    }
}

}  // namespace

void stop_everywhere(const Scene& scene, std::size_t least_stops) {
    const StepHandler handler;
    Other other(scene.other);
    g_stepping.thread = os::this_thread_id();
    g_stepping.seen.clear();
    g_stepping.instructions.clear();
    g_stepping.first_stops.clear();
    g_stepping.is_first_stop = scene.is_first_stop;
    g_stepping.most_stops = most_stops(scene);
    // The first time, more is done than later on.
    ASSERT_TRUE(play(scene, other, How::freely));
    ASSERT_TRUE(play(scene, other, How::stepping));
    ASSERT_GE(g_stepping.instructions.size(), least_stops);
    ASSERT_FALSE(g_stepping.first_stops.empty());
    if (g_stepping.most_stops > 1) {
        stop_twice_everywhere(scene, other);
    } else {
        stop_once_everywhere(scene, other);
    }
}

}  // namespace ouro::test
