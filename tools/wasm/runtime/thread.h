#pragma once

#include <stddef.h>
#include <stdint.h>

// Threads of a wasm program: each is a worker of the host that runs in the same linear memory. The caller
// owns all of the memory involved, so that nothing is allocated here.
#ifdef __cplusplus
extern "C" {
#endif

enum {
    ouro_wasm_thread_idle = 0,      // never started, or joined
    ouro_wasm_thread_asked = 1,     // the host has not answered yet
    ouro_wasm_thread_running = 2,   // the host has a worker for it, which may not have begun yet
    ouro_wasm_thread_finished = 3,  // its entry returned; the host has left its stack for good
    ouro_wasm_thread_refused = 4    // the host could not create a worker; its entry was never called
};

enum {
    ouro_wasm_ok = 0,
    ouro_wasm_block_too_small = 1,
    ouro_wasm_already_started = 2,
    ouro_wasm_refused = 3
};

typedef struct ouro_wasm_thread {
    uint32_t state;  // one of ouro_wasm_thread_*, changed atomically; the host writes here: keep it first
    uint32_t id;
    void (*entry)(void* argument);
    void* argument;
    void* stack_low;
} ouro_wasm_thread;

// The least stack a thread may have.
#define OURO_WASM_MIN_STACK_BYTES 16384u

// Bytes to hand to ouro_wasm_thread_start for a stack of `stack_bytes` (raised to the minimum), or 0 when the
// sum overflows.
size_t ouro_wasm_thread_block_bytes(size_t stack_bytes);

// Starts entry(argument) on a thread of its own. `block` (of at least ouro_wasm_thread_block_bytes(0) bytes,
// any alignment) holds its stack and thread-locals; it and *thread must stay until ouro_wasm_thread_join
// returned. `name` (may be null) is read before the call returns; messages about the thread carry it.
// Returns ouro_wasm_ok, ouro_wasm_block_too_small or ouro_wasm_already_started; whether the host has a worker
// is known later only.
int ouro_wasm_thread_start(ouro_wasm_thread* thread, void (*entry)(void*), void* argument, void* block,
                           size_t block_bytes, const char* name);

// Blocks until the host has answered a start, without waiting for the worker to begin. Returns ouro_wasm_ok,
// or ouro_wasm_refused when the host has no worker: the thread is idle then, and its memory the caller's
// again.
int ouro_wasm_thread_await_answer(ouro_wasm_thread* thread);

// Blocks until the thread ended, after which its memory is the caller's again. Returns ouro_wasm_ok, or
// ouro_wasm_refused when the host never ran it. A thread that is not started counts as ended.
int ouro_wasm_thread_join(ouro_wasm_thread* thread);

// 1 for the main thread, and another number for each thread of this run.
uint32_t ouro_wasm_thread_current_id(void);

// Blocks while *word equals `expected`, for at most `timeout_ns` (negative: without limit).
// Returns 0 when woken, 1 when *word had another value, 2 when the time was over.
int ouro_wasm_wait32(uint32_t* word, uint32_t expected, int64_t timeout_ns);

// Wakes at most `count` of those that wait for *word; returns how many.
uint32_t ouro_wasm_notify(uint32_t* word, uint32_t count);

#ifdef __cplusplus
}
#endif
