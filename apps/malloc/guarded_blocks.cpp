#include "guarded_blocks.hpp"

#include "call_site_names.hpp"
#include "text_output.hpp"

#include <ouro/base/status.hpp>
#include <ouro/memory/memory_error.hpp>
#include <ouro/os/fault_observer.hpp>
#include <ouro/os/thread.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

#include <signal.h>

namespace ouro::process_heap {
namespace {

// What every block of malloc is aligned to, guarded or not.
constexpr std::size_t kLeastAlignment = 16;
constexpr std::size_t kSlotBytes = std::size_t{16} << 10;

// Never destroyed: blocks outlive whatever ends last.
alignas(SampledGuards) constinit std::byte g_memory[sizeof(SampledGuards)] = {};

// How many blocks there were when no slot was free, so that the others do not search in vain; the next free
// forgets it. A free that came just before it was noted is not missed: there are fewer blocks then.
constexpr std::size_t kNeverFull = ~std::size_t{0};
constinit std::atomic<std::size_t> g_full_blocks = kNeverFull;
constinit std::atomic<std::size_t> g_blocks = 0;
constinit std::atomic<std::size_t> g_bytes = 0;
constinit std::atomic<std::uint64_t> g_allocations = 0;

struct Sampling {
    SampleCountdown countdown;
    bool is_begun = false;
};
[[gnu::tls_model("initial-exec")]] constinit thread_local Sampling t_sampling;

void explain_fault(const os::AccessFault& fault) {
    const SampledGuards* const guards = g_guards.load(std::memory_order_acquire);
    MemoryErrorReport report;
    if (guards == nullptr || !guards->describe(fault.address, report)) return;
    report.is_fault = true;
    // This function, those that called it and what the system puts in between come before the code that
    // faulted.
    constexpr unsigned kHandlerFrames = 4;
    report.noticed_at.capture_below(fault.instruction, kHandlerFrames);
    report_memory_error(report);
}

// What the system calls on a fault while our handler is the first.
constinit std::atomic<void*> g_first_handler = nullptr;
// Held while handlers are changed, which takes a lock of the os module: no fork may happen then, for the
// child would find that lock taken.
constinit std::atomic<bool> g_is_changing = false;

void* current_handler() noexcept {
    struct sigaction current = {};
    if (::sigaction(SIGSEGV, nullptr, &current) != 0) return nullptr;
    return reinterpret_cast<void*>(current.sa_sigaction);
}

// Where it cannot be, the fault ends the program all the same; only the explanation is missing.
void take_first_place() noexcept {
    if (g_is_changing.exchange(true, std::memory_order_acquire)) return;
    if (os::add_fault_observer(explain_fault))
        g_first_handler.store(current_handler(), std::memory_order_relaxed);
    g_is_changing.store(false, std::memory_order_release);
}

// In front of a handler that the program has set since, to which faults go on as before.
void stay_in_front() noexcept {
    if (current_handler() != g_first_handler.load(std::memory_order_relaxed)) take_first_place();
}

// A thread's first countdown begins at a random place too: threads that live for a few allocations would
// otherwise guard the first of them, always the same.
bool is_sampled(SampledGuards& guards) noexcept {
    if (!t_sampling.is_begun) {
        t_sampling.is_begun = true;
        static_cast<void>(guards.should_sample(t_sampling.countdown));
    }
    return guards.should_sample(t_sampling.countdown);
}

[[gnu::cold, gnu::noinline]] void* take_slot(SampledGuards& guards, std::size_t size,
                                             std::size_t alignment) noexcept {
    const std::size_t blocks = g_blocks.load(std::memory_order_relaxed);
    if (blocks >= g_full_blocks.load(std::memory_order_relaxed)) return nullptr;
    const auto block = guards.allocate(size, alignment);
    if (!block) {
        // Where there are none, no free would come.
        g_full_blocks.store(std::max<std::size_t>(blocks, 1), std::memory_order_relaxed);
        return nullptr;
    }
    stay_in_front();
    g_blocks.fetch_add(1, std::memory_order_relaxed);
    g_bytes.fetch_add(size, std::memory_order_relaxed);
    g_allocations.fetch_add(1, std::memory_order_relaxed);
    return block->data;
}

}  // namespace

void start_guarding(std::size_t every, std::size_t slots) noexcept {
    auto made = SampledGuards::create({.name = "malloc",
                                       .slots = static_cast<std::uint32_t>(slots),
                                       .slot_bytes = kSlotBytes,
                                       .sample_every = static_cast<std::uint32_t>(every),
                                       // Below, where a handler of the program can be overtaken.
                                       .explain_faults = false});
    if (!made) {
        TextBuffer text;
        text.add("OUROBOROS_MALLOC: nothing is guarded: ").add(status_name(made.status()).data()).add("\n");
        return text.write();
    }
    set_call_site_describer(name_call_site);
    take_first_place();
    g_guards.store(std::construct_at(reinterpret_cast<SampledGuards*>(g_memory), *std::move(made)),
                   std::memory_order_release);
}

void* allocate_guarded(std::size_t size, std::size_t alignment) noexcept {
    SampledGuards& guards = *g_guards.load(std::memory_order_acquire);
    if (size > kSlotBytes || alignment > os::page_size() || !is_sampled(guards)) return nullptr;
    const int saved_errno = errno;
    void* const block =
        take_slot(guards, std::max<std::size_t>(size, 1), std::max(alignment, kLeastAlignment));
    errno = saved_errno;
    return block;
}

void free_guarded(void* block) noexcept {
    SampledGuards& guards = *g_guards.load(std::memory_order_acquire);
    const std::size_t size = guards.block_at(block).size;
    // Ends the program unless there was such a block.
    guards.deallocate(block);
    g_blocks.fetch_sub(1, std::memory_order_relaxed);
    g_bytes.fetch_sub(size, std::memory_order_relaxed);
    g_full_blocks.store(kNeverFull, std::memory_order_relaxed);
}

void prepare_guards_for_fork() noexcept {
    while (g_is_changing.exchange(true, std::memory_order_acquire))
        os::yield_thread();
}

void resume_guards_after_fork() noexcept {
    g_is_changing.store(false, std::memory_order_release);
}

std::size_t guarded_size(const void* block) noexcept {
    return g_guards.load(std::memory_order_acquire)->block_at(block).size;
}

GuardedTotals guarded_totals() noexcept {
    return {g_blocks.load(std::memory_order_relaxed), g_bytes.load(std::memory_order_relaxed),
            g_allocations.load(std::memory_order_relaxed)};
}

}  // namespace ouro::process_heap
