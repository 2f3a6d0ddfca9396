#include "environment.hpp"

namespace ouro::detail {

const char* environment_value(const char* /*variable*/) noexcept {
    return nullptr;
}

}  // namespace ouro::detail
