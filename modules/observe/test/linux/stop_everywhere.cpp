#include "stop_everywhere.hpp"

#include <ouro/os/futex.hpp>
#include <ouro/os/thread.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <atomic>
#include <cstdint>
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
    // Stopped: the one that is a breakpoint, and what it was before.
    unsigned char* breakpoint = nullptr;
    unsigned char covered = 0;
    std::atomic<std::uint32_t> is_stopped = 0;
    std::atomic<std::uint32_t> may_go_on = 0;
};
Stepping g_stepping;

void set(std::atomic<std::uint32_t>& word) noexcept {
    word.store(1);
    os::wake_all(word);
}

// The other thread may wait for a lock that this one holds: then it is let go on after a while.
void wait_for_the_other() noexcept {
    constexpr std::uint64_t kPatienceNs = 2'000'000;
    set(g_stepping.is_stopped);
    os::wait_on(g_stepping.may_go_on, 0, kPatienceNs);
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
        if (is_own_code(address) && g_stepping.seen.insert(address).second)
            g_stepping.instructions.push_back(address);
        return;
    }
    registers[REG_RIP] -= 1;
    remove_breakpoint();
    // The other one has the same code to run.
    if (os::this_thread_id() == g_stepping.thread) wait_for_the_other();
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
        set(g_stepping.is_stopped);
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
                while (g_stepping.is_stopped.load() == 0)
                    os::wait_on(g_stepping.is_stopped, 0);
                self.work_.meanwhile();
                set(g_stepping.may_go_on);
                self.take_turn(Turn::none);
            }
        }
    }

    OtherWork work_;
    std::atomic<std::uint32_t> turn_ = 0;
    os::Thread thread_;
};

enum class How : unsigned char { freely, stepping, stopping };

// Plays it once. False when the stop could not be made.
bool play(const Scene& scene, Other& other, How how, std::uintptr_t stop = 0) {
    bool is_made = true;
    scene.prepare();
    g_stepping.is_stopped.store(0);
    g_stepping.may_go_on.store(0);
    other.prepare();
    if (how == How::stopping) is_made = set_breakpoint(stop);
    if (how == How::stepping) begin_steps();
    scene.stepped();
    if (how == How::stepping) end_steps();
    remove_breakpoint();
    other.finish();
    scene.check();
    return is_made;
}

}  // namespace

void stop_everywhere(const Scene& scene, std::size_t least_stops) {
    const StepHandler handler;
    Other other(scene.other);
    g_stepping.thread = os::this_thread_id();
    g_stepping.seen.clear();
    g_stepping.instructions.clear();
    // The first time, more is done than later on.
    ASSERT_TRUE(play(scene, other, How::freely));
    ASSERT_TRUE(play(scene, other, How::stepping));
    ASSERT_GE(g_stepping.instructions.size(), least_stops);
    for (const std::uintptr_t stop : g_stepping.instructions) {
        if (!play(scene, other, How::stopping, stop)) GTEST_SKIP() << "code cannot be changed here";
        if (testing::Test::HasFailure()) {
            ADD_FAILURE() << "stopped at " << reinterpret_cast<const void*>(stop);
            break;
        }
    }
}

}  // namespace ouro::test
