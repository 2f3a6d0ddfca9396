#include "idle_return.hpp"

#include "settings.hpp"

#include <ouro/os/futex.hpp>

#include <atomic>
#include <cstdint>

#include <pthread.h>
#include <signal.h>
#include <time.h>

namespace ouro::process_heap {
namespace {

using detail::HeapCore;
using detail::UnitMap;

constexpr std::uint64_t kNsPerMs = 1'000'000;

// The fewest free units with memory since the last look: that many were not needed in the meantime.
constinit std::atomic<std::size_t> g_least_free = 0;
constinit std::atomic<std::uint64_t> g_next_look_ns = 0;
constinit std::atomic<std::size_t> g_returned_bytes = 0;

// Never from the free side: the C library frees with the lock of its thread stacks held, which starting a
// thread needs.
enum class Background : std::uint32_t { not_allowed, not_started, awake, asleep };
constinit std::atomic<std::uint32_t> g_background = 0;

bool background_is(Background state) noexcept {
    return g_background.load(std::memory_order_relaxed) == static_cast<std::uint32_t>(state);
}

bool change_background(Background from, Background to) noexcept {
    auto expected = static_cast<std::uint32_t>(from);
    return g_background.compare_exchange_strong(expected, static_cast<std::uint32_t>(to));
}

std::uint64_t idle_ns() noexcept {
    return settings().idle_ms * kNsPerMs;
}

// A few milliseconds too early at worst, and much cheaper than the exact time.
std::uint64_t coarse_ns() noexcept {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

void return_units(HeapCore& core) noexcept {
    // Not beside a fork, whose child would find the units being returned taken for ever.
    if (g_waiting_forks.load(std::memory_order_relaxed) != 0 || !core.try_begin_purge()) return;
    g_returned_bytes.fetch_add(core.purge_units(), std::memory_order_relaxed);
    core.end_purge();
}

// What was needed now and then stays; when at least a half was not, all goes: the pages that come back cost
// less than what was kept for nothing.
void look(HeapCore& core, std::size_t free_units) noexcept {
    const std::size_t stayed = g_least_free.exchange(free_units, std::memory_order_relaxed);
    if (stayed != 0 && stayed >= free_units / 2) return_units(core);
}

void look_when_due(HeapCore& core) noexcept {
    const std::size_t free_units = core.units().free_dirty_units();
    if (free_units < g_least_free.load(std::memory_order_relaxed))
        g_least_free.store(free_units, std::memory_order_relaxed);
    if (free_units == 0) return;
    const std::uint64_t now = coarse_ns();
    std::uint64_t due = g_next_look_ns.load(std::memory_order_relaxed);
    if (now < due || !g_next_look_ns.compare_exchange_strong(due, now + idle_ns(), std::memory_order_relaxed))
        return;
    look(core, free_units);
}

// Unless somebody came before the word said that we sleep.
void sleep_until_visited(const HeapCore& core, std::uint64_t operations) noexcept {
    constexpr auto kAsleep = static_cast<std::uint32_t>(Background::asleep);
    if (!change_background(Background::awake, Background::asleep)) return;
    if (core.count().operations != operations) change_background(Background::asleep, Background::awake);
    while (g_background.load(std::memory_order_acquire) == kAsleep)
        os::wait_on(g_background, kAsleep);
}

// Nothing ever changes this word.
void sleep_idle_time() noexcept {
    static constinit const std::atomic<std::uint32_t> nobody = 0;
    os::wait_on(nobody, 0, idle_ns());
}

void* return_in_background(void* core_pointer) noexcept {
    ::pthread_setname_np(::pthread_self(), "ouro-malloc");
    auto& core = *static_cast<HeapCore*>(core_pointer);
    std::uint64_t operations = 0;
    for (;;) {
        sleep_idle_time();
        look_when_due(core);
        const std::uint64_t now = core.count().operations;
        const bool is_quiet = now == operations;
        operations = now;
        if (!is_quiet) continue;
        if (g_waiting_forks.load(std::memory_order_relaxed) != 0) continue;
        g_returned_bytes.fetch_add(core.purge().bytes, std::memory_order_relaxed);
        operations = core.count().operations;
        sleep_until_visited(core, operations);
    }
}

// It takes no signals, which are for the program's own threads, and a small stack. Where it cannot be
// started, the program goes on without.
void start_background_thread(HeapCore& core) noexcept {
    if (!change_background(Background::not_started, Background::awake)) return;
    constexpr std::size_t kStackBytes = std::size_t{256} << 10;
    pthread_attr_t attributes;
    sigset_t all_signals;
    ::sigfillset(&all_signals);
    ::pthread_attr_init(&attributes);
    ::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    ::pthread_attr_setstacksize(&attributes, kStackBytes);
    ::pthread_attr_setsigmask_np(&attributes, &all_signals);
    pthread_t thread;
    static_cast<void>(::pthread_create(&thread, &attributes, return_in_background, &core));
    ::pthread_attr_destroy(&attributes);
}

[[gnu::noinline]] void call_background_thread(HeapCore& core, Errand errand) noexcept {
    if (background_is(Background::not_started) && errand == Errand::allocating) start_background_thread(core);
    if (background_is(Background::asleep) && change_background(Background::asleep, Background::awake))
        os::wake_one(g_background);
}

}  // namespace

void visit_idle_memory(HeapCore& core, Errand errand) noexcept {
    if (settings().idle_ms == 0) return;
    look_when_due(core);
    if (settings().background && !background_is(Background::awake)) [[unlikely]]
        call_background_thread(core, errand);
}

void make_room_for_mapping(HeapCore& core) noexcept {
    constexpr std::size_t kWorthACall = (std::size_t{1} << 20) / UnitMap::kUnitBytes;
    if (settings().idle_ms != 0 && core.units().free_dirty_units() >= kWorthACall) return_units(core);
}

void allow_background_thread() noexcept {
    change_background(Background::not_allowed, Background::not_started);
}

void forget_background_thread() noexcept {
    if (background_is(Background::not_allowed)) return;
    g_background.store(static_cast<std::uint32_t>(Background::not_started), std::memory_order_relaxed);
}

std::size_t idle_returned_bytes() noexcept {
    return g_returned_bytes.load(std::memory_order_relaxed);
}

}  // namespace ouro::process_heap
