#include <ouro/os/terminal.hpp>

namespace ouro::os {

bool output_is_terminal() noexcept {
    return false;
}

}  // namespace ouro::os
