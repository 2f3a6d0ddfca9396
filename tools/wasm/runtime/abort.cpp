#include "abort.hpp"

#include "host.hpp"

#include <__verbose_abort>
#include <cstdlib>
#include <cstring>

namespace ouro::wasm {

void abort_with(const char* message) noexcept {
    wasm_host::abort(message, std::strlen(message));
}

}  // namespace ouro::wasm

extern "C" {

void abort() {
    ouro::wasm::abort_with("abort was called");
}

void __cxa_pure_virtual() {
    ouro::wasm::abort_with(
        "a pure virtual function was called: an object is used while it is built or torn down");
}

void __cxa_deleted_virtual() {
    ouro::wasm::abort_with("a deleted virtual function was called");
}

void __assert_fail(const char* condition, const char* file, int, const char*) {
    ouro::wasm_host::write(2, file, std::strlen(file));
    ouro::wasm_host::write(2, ": assertion failed: ", 20);
    ouro::wasm_host::write(2, condition, std::strlen(condition));
    ouro::wasm_host::write(2, "\n", 1);
    ouro::wasm::abort_with("an assertion failed");
}

}  // extern "C"

// The format alone tells which check failed; expanding it would bring a formatter into every program.
void std::__libcpp_verbose_abort(const char* format, ...) {
    ouro::wasm::abort_with(format);
}
