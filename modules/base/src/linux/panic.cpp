#include "panic.hpp"

#include <cstdio>
#include <cstdlib>

namespace ouro {

void write_error(const AssertFailure& failure) noexcept {
    std::fprintf(stderr, "%s:%u: assertion `%s` failed: %s\n", failure.file, failure.line, failure.condition,
                 failure.message);
    std::fflush(stderr);
}

void abort_process() noexcept {
    std::abort();
}

}  // namespace ouro
