#include <ouro/os/code_place.hpp>

namespace ouro::os {

Expected<CodePlace> find_code(const void* /*address*/) noexcept {
    return Status::not_supported;
}

}  // namespace ouro::os
