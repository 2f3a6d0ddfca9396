#include <ouro/os/error_output.hpp>

#include <cerrno>
#include <cstddef>

#include <unistd.h>

namespace ouro::os {

void write_error_text(std::string_view text) noexcept {
    const int saved_error = errno;
    const char* next = text.data();
    std::size_t left = text.size();
    while (left != 0) {
        const ssize_t written = ::write(STDERR_FILENO, next, left);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) break;
        next += written;
        left -= static_cast<std::size_t>(written);
    }
    errno = saved_error;
}

}  // namespace ouro::os
