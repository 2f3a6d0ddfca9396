// Initialisation of function-local statics: exactly one thread runs the initialiser, the others wait.
#include "abort.hpp"
#include "thread.h"

#include <atomic>
#include <cstdint>

namespace {

// The compiler tests the lowest byte for 1; the rest of the word is ours.
constexpr std::uint32_t kDone = 1;
constexpr std::uint32_t kBusy = 1u << 8;
constexpr std::uint32_t kWaited = 1u << 9;
constexpr unsigned kOwnerShift = 10;

}  // namespace

extern "C" {

int __cxa_guard_acquire(std::uint32_t* guard) {
    std::atomic_ref word(*guard);
    const std::uint32_t owner = ouro_wasm_thread_current_id() << kOwnerShift;
    std::uint32_t seen = 0;
    while (!word.compare_exchange_strong(seen, kBusy | owner, std::memory_order_acq_rel)) {
        if ((seen & kDone) != 0) return 0;
        if (seen >> kOwnerShift == owner >> kOwnerShift) {
            ouro::wasm::abort_with("a function-local static needs itself while it is being initialised");
        }
        const std::uint32_t waited = seen | kWaited;
        if (seen == waited || word.compare_exchange_strong(seen, waited, std::memory_order_acq_rel)) {
            ouro_wasm_wait32(guard, waited, -1);
        }
        seen = 0;
    }
    return 1;
}

void __cxa_guard_release(std::uint32_t* guard) {
    const std::uint32_t before = std::atomic_ref(*guard).exchange(kDone, std::memory_order_acq_rel);
    if ((before & kWaited) != 0) ouro_wasm_notify(guard, UINT32_MAX);
}

void __cxa_guard_abort(std::uint32_t* guard) {
    const std::uint32_t before = std::atomic_ref(*guard).exchange(0, std::memory_order_acq_rel);
    if ((before & kWaited) != 0) ouro_wasm_notify(guard, UINT32_MAX);
}

}  // extern "C"
