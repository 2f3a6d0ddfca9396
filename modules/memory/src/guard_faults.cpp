// Explains faults in guarded memory: which block, who allocated it, who freed it.
#include "guard_slots.hpp"

#include <ouro/os/fault_observer.hpp>
#include <ouro/os/thread.hpp>

#include <array>

namespace ouro {
namespace {

using GuardsState = SampledGuards::State;

// A signal handler can neither lock nor allocate: hence an array of atomics, and readers that are counted.
constexpr std::size_t kMaxGuards = 64;
std::array<std::atomic<const GuardsState*>, kMaxGuards> all_guards;
std::atomic<std::uint32_t> readers{0};

void explain(const os::AccessFault& fault) {
    MemoryErrorReport report;
    if (!describe_fault(fault.address, report)) return;
    report.is_fault = true;
    // The handler's own frames come first, then the caller of the code that faulted.
    constexpr unsigned kHandlerFrames = 4;
    report.noticed_at.capture_below(fault.instruction, kHandlerFrames);
    report_memory_error(report);
}

}  // namespace

void register_guards(const GuardsState& state) noexcept {
    for (auto& place : all_guards) {
        const GuardsState* empty = nullptr;
        if (place.compare_exchange_strong(empty, &state)) break;
    }
    // Without a handler the fault still ends the process; only the explanation is missing.
    (void)os::add_fault_observer(explain);
}

void forget_guards(const GuardsState& state) noexcept {
    for (auto& place : all_guards) {
        const GuardsState* own = &state;
        if (place.compare_exchange_strong(own, nullptr)) break;
    }
    while (readers.load() != 0)
        os::yield_thread();
}

bool describe_fault(const void* address, MemoryErrorReport& report) noexcept {
    readers.fetch_add(1);
    bool found = false;
    for (const auto& place : all_guards) {
        const GuardsState* state = place.load();
        found = state != nullptr && state->describe(address, report);
        if (found) break;
    }
    readers.fetch_sub(1);
    return found;
}

}  // namespace ouro
