#include "joint_release.hpp"

namespace ouro::detail {

// Each reservation has an entry of its own in the table of the linear memory.
bool can_release_together() noexcept {
    return false;
}

}  // namespace ouro::detail
