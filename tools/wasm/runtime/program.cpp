// From the host's first call to the program's end.
#include "exit_list.hpp"
#include "host.hpp"

#include <cstddef>
#include <cstdlib>

extern "C" {

void __wasm_call_ctors();
int __main_argc_argv(int argc, char** argv);

// The compiler gives this name to a main without parameters; this one serves programs whose main has them.
__attribute__((weak)) int __main_void() {
    const std::size_t bytes = ouro::wasm_host::argument_bytes();
    char* text = static_cast<char*>(__builtin_alloca(bytes));
    ouro::wasm_host::copy_arguments(text);
    int argc = 0;
    for (std::size_t i = 0; i < bytes; ++i)
        argc += text[i] == '\0' ? 1 : 0;
    char** argv = static_cast<char**>(__builtin_alloca_with_align(
        (static_cast<std::size_t>(argc) + 1) * sizeof(char*), 8 * alignof(char*)));
    char* next = text;
    for (int i = 0; i < argc; ++i) {
        argv[i] = next;
        next += __builtin_strlen(next) + 1;
    }
    argv[argc] = nullptr;
    return __main_argc_argv(argc, argv);
}

// Called by the host in the main thread's worker; returns the exit code.
__attribute__((visibility("default"))) int ouro_wasm_program_enter() {
    __wasm_call_ctors();
    const int code = __main_void();
    ouro::wasm::run_thread_exit_list();
    ouro::wasm::run_exit_list();
    return code;
}

void exit(int code) {
    ouro::wasm::run_thread_exit_list();
    ouro::wasm::run_exit_list();
    ouro::wasm_host::exit(code);
}

void _Exit(int code) {
    ouro::wasm_host::exit(code);
}

}  // extern "C"
