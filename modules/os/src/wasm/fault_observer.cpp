#include <ouro/os/fault_observer.hpp>

namespace ouro::os {

Expected<void> add_fault_observer(FaultObserver) noexcept {
    return Status::not_supported;
}

}  // namespace ouro::os
