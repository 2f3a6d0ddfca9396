#include "thread_exit_table.hpp"

namespace ouro::os {

// Nothing to prepare: a thread looks for itself when its entry has returned.
Status arm_thread_exit() noexcept {
    return Status::ok;
}

}  // namespace ouro::os
