#include "thread.h"

#include "abort.hpp"
#include "exit_list.hpp"
#include "host.hpp"

#include <atomic>
#include <cstring>

namespace {

constexpr std::size_t kStackAlign = 16;
constexpr std::uint32_t kCanary = 0x5AFE57AC;
constexpr std::size_t kCanaryWords = 4;

std::atomic<std::uint32_t> next_id{2};
thread_local std::uint32_t current_id = 1;

std::size_t tls_align() {
    const std::size_t align = __builtin_wasm_tls_align();
    return align < kStackAlign ? kStackAlign : align;
}

std::uintptr_t align_up(std::uintptr_t value, std::size_t align) {
    return (value + align - 1) & ~(static_cast<std::uintptr_t>(align) - 1);
}

// Beyond the stack itself: thread-locals, and what aligning both ends can cost.
std::size_t extra_bytes() {
    return __builtin_wasm_tls_size() + tls_align() + 2 * kStackAlign;
}

// Linear memory has no guard pages; words at the stack's far end show afterwards whether it was overrun.
void paint_canary(void* stack_low) {
    auto* words = static_cast<std::uint32_t*>(stack_low);
    for (std::size_t i = 0; i < kCanaryWords; ++i)
        words[i] = kCanary;
}

void check_canary(const void* stack_low) {
    const auto* words = static_cast<const std::uint32_t*>(stack_low);
    for (std::size_t i = 0; i < kCanaryWords; ++i) {
        if (words[i] != kCanary) ouro::wasm::abort_with("stack overflow: start this thread with more stack");
    }
}

}  // namespace

extern "C" {

void __wasm_init_tls(void* block);

std::size_t ouro_wasm_thread_block_bytes(std::size_t stack_bytes) {
    if (stack_bytes < OURO_WASM_MIN_STACK_BYTES) stack_bytes = OURO_WASM_MIN_STACK_BYTES;
    std::size_t sum = 0;
    return __builtin_add_overflow(stack_bytes, extra_bytes(), &sum) ? 0 : sum;
}

int ouro_wasm_thread_start(ouro_wasm_thread* thread, void (*entry)(void*), void* argument, void* block,
                           std::size_t block_bytes, const char* name) {
    if (block == nullptr || block_bytes < ouro_wasm_thread_block_bytes(0)) return ouro_wasm_block_too_small;
    std::uint32_t idle = ouro_wasm_thread_idle;
    if (!std::atomic_ref(thread->state).compare_exchange_strong(idle, ouro_wasm_thread_asked)) {
        return ouro_wasm_already_started;
    }
    const auto low = align_up(reinterpret_cast<std::uintptr_t>(block), kStackAlign);
    const auto end = reinterpret_cast<std::uintptr_t>(block) + block_bytes;
    const auto tls = (end - __builtin_wasm_tls_size()) & ~(static_cast<std::uintptr_t>(tls_align()) - 1);
    const auto stack_top = tls & ~(static_cast<std::uintptr_t>(kStackAlign) - 1);
    thread->id = next_id.fetch_add(1, std::memory_order_relaxed);
    thread->entry = entry;
    thread->argument = argument;
    thread->stack_low = reinterpret_cast<void*>(low);
    paint_canary(thread->stack_low);
    if (name == nullptr) name = "";
    ouro::wasm_host::start_thread(thread, reinterpret_cast<void*>(stack_top), reinterpret_cast<void*>(tls),
                                  name, std::strlen(name));
    return ouro_wasm_ok;
}

int ouro_wasm_thread_await_answer(ouro_wasm_thread* thread) {
    std::atomic_ref state(thread->state);
    while (state.load(std::memory_order_acquire) == ouro_wasm_thread_asked)
        ouro_wasm_wait32(&thread->state, ouro_wasm_thread_asked, -1);
    std::uint32_t refused = ouro_wasm_thread_refused;
    return state.compare_exchange_strong(refused, ouro_wasm_thread_idle) ? ouro_wasm_refused : ouro_wasm_ok;
}

int ouro_wasm_thread_join(ouro_wasm_thread* thread) {
    std::atomic_ref state(thread->state);
    std::uint32_t seen = state.load(std::memory_order_acquire);
    while (seen == ouro_wasm_thread_asked || seen == ouro_wasm_thread_running) {
        ouro_wasm_wait32(&thread->state, seen, -1);
        seen = state.load(std::memory_order_acquire);
    }
    state.store(ouro_wasm_thread_idle, std::memory_order_relaxed);
    return seen == ouro_wasm_thread_refused ? ouro_wasm_refused : ouro_wasm_ok;
}

// Called by the host in the new worker, with the stack pointer and the thread-locals already set. The host
// marks the thread as finished after this returned, when the stack is no longer in use.
__attribute__((visibility("default"))) void ouro_wasm_thread_enter(ouro_wasm_thread* thread) {
    current_id = thread->id;
    thread->entry(thread->argument);
    ouro::wasm::run_thread_exit_list();
    check_canary(thread->stack_low);
}

std::uint32_t ouro_wasm_thread_current_id(void) {
    return current_id;
}

// Never inlined: V8's baseline compiler in node 20 forgets the address after the instruction, so that code
// behind it would look at another word. Here nothing comes behind it.
[[gnu::noinline]] int ouro_wasm_wait32(std::uint32_t* word, std::uint32_t expected, std::int64_t timeout_ns) {
    return __builtin_wasm_memory_atomic_wait32(reinterpret_cast<int*>(word), static_cast<int>(expected),
                                               timeout_ns);
}

std::uint32_t ouro_wasm_notify(std::uint32_t* word, std::uint32_t count) {
    return static_cast<std::uint32_t>(
        __builtin_wasm_memory_atomic_notify(reinterpret_cast<int*>(word), count));
}

}  // extern "C"
