#include <ouro/os/fork_hooks.hpp>

namespace ouro::os {

Expected<void> add_fork_hooks(const ForkHooks&) noexcept {
    return Status::not_supported;
}

}  // namespace ouro::os
