#include "exit_list.hpp"

#include "abort.hpp"
#include "lock.hpp"

#include <cstddef>
#include <cstdlib>

namespace {

struct ExitCall {
    void (*function)(void*);
    void* argument;
};

// Fixed capacities, because nothing may allocate behind the program's back.
constexpr std::size_t kMaxExitCalls = 1024;
constexpr std::size_t kMaxThreadExitCalls = 64;

ouro::wasm::Lock exit_lock;
std::size_t exit_count = 0;
ExitCall exit_calls[kMaxExitCalls];

thread_local std::size_t thread_exit_count = 0;
thread_local ExitCall thread_exit_calls[kMaxThreadExitCalls];

void call_plain_function(void* function) {
    reinterpret_cast<void (*)()>(function)();
}

bool take_last(ExitCall* out) {
    ouro::wasm::LockGuard guard(exit_lock);
    if (exit_count == 0) return false;
    *out = exit_calls[--exit_count];
    return true;
}

}  // namespace

namespace ouro::wasm {

void run_exit_list() noexcept {
    // A destructor may register more; taking one at a time runs those next, as the language asks.
    ExitCall call{};
    while (take_last(&call))
        call.function(call.argument);
}

void run_thread_exit_list() noexcept {
    while (thread_exit_count > 0) {
        const ExitCall call = thread_exit_calls[--thread_exit_count];
        call.function(call.argument);
    }
}

}  // namespace ouro::wasm

extern "C" {

int __cxa_atexit(void (*function)(void*), void* argument, void*) {
    ouro::wasm::LockGuard guard(exit_lock);
    if (exit_count == kMaxExitCalls) {
        ouro::wasm::abort_with(
            "too many static objects with destructors: raise kMaxExitCalls in exit_list.cpp");
    }
    exit_calls[exit_count++] = {function, argument};
    return 0;
}

int __cxa_thread_atexit(void (*function)(void*), void* argument, void*) {
    if (thread_exit_count == kMaxThreadExitCalls) {
        ouro::wasm::abort_with("too many thread-locals with destructors: raise kMaxThreadExitCalls");
    }
    thread_exit_calls[thread_exit_count++] = {function, argument};
    return 0;
}

int atexit(void (*function)()) {
    return __cxa_atexit(call_plain_function, reinterpret_cast<void*>(function), nullptr);
}

}  // extern "C"
