#include <ouro/os/terminal.hpp>

#include <unistd.h>

namespace ouro::os {

bool output_is_terminal() noexcept {
    return ::isatty(STDOUT_FILENO) != 0;
}

}  // namespace ouro::os
