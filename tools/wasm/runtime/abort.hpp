#pragma once

namespace ouro::wasm {

// Ends the program as failed; the host prints the message with the name of the calling thread.
[[noreturn]] void abort_with(const char* message) noexcept;

}  // namespace ouro::wasm
