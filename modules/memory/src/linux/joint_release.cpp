#include "joint_release.hpp"

namespace ouro::detail {

bool can_release_together() noexcept {
    return true;
}

}  // namespace ouro::detail
