#pragma once

namespace ouro::wasm {

// Destroys the static objects of the program, the last constructed first.
void run_exit_list() noexcept;

// Destroys the calling thread's thread-locals, the last constructed first.
void run_thread_exit_list() noexcept;

}  // namespace ouro::wasm
