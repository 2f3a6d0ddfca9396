#pragma once

namespace ouro::os {

// Whether the program's output goes to a terminal, which obeys codes to move and to clear; false for a file
// or a pipe, and in wasm32.
[[nodiscard]] bool output_is_terminal() noexcept;

}  // namespace ouro::os
