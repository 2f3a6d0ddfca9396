#include "fault_observers.hpp"
#include "fault_slots.hpp"

#include <array>
#include <atomic>

namespace ouro::os {
namespace {

std::array<std::atomic<FaultObserver>, kMaxFaultObservers> observers;

}  // namespace

Expected<void> add_fault_observer(FaultObserver observer) noexcept {
    if (observer == nullptr) return Status::bad_argument;
    const Status installed = install_fault_handler();
    if (installed != Status::ok) return installed;
    for (auto& place : observers) {
        FaultObserver empty = nullptr;
        if (place.compare_exchange_strong(empty, observer) || empty == observer) return {};
    }
    return Status::capacity_exhausted;
}

void tell_fault_observers(const AccessFault& fault) noexcept {
    [[gnu::tls_model("initial-exec")]] static thread_local bool telling = false;
    if (telling) return;
    telling = true;
    for (const auto& place : observers) {
        const FaultObserver observer = place.load();
        if (observer != nullptr) observer(fault);
    }
    telling = false;
}

}  // namespace ouro::os
