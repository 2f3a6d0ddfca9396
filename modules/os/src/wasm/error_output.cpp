#include "host.hpp"

#include <ouro/os/error_output.hpp>

namespace ouro::os {

void write_error_text(std::string_view text) noexcept {
    constexpr int kStandardError = 2;
    wasm_host::write(kStandardError, text.data(), text.size());
}

}  // namespace ouro::os
