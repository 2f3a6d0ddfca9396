#include "environment.hpp"

#include <cstdlib>

namespace ouro::detail {

const char* environment_value(const char* variable) noexcept {
    return std::getenv(variable);
}

}  // namespace ouro::detail
