#pragma once

#include <cstddef>
#include <cstdint>

// Everything a wasm program asks of its host. tools/wasm/host/imports.mjs is the other side of this list.
namespace ouro::wasm_host {

#define OURO_WASM_IMPORT(name) __attribute__((import_module("ouro_host"), import_name(name)))

// Writes all of the bytes to file descriptor 1 or 2 before it returns.
OURO_WASM_IMPORT("write") void write(std::int32_t fd, const char* text, std::size_t bytes) noexcept;

// Nanoseconds of a clock that never goes back and is the same for all threads.
OURO_WASM_IMPORT("now_ns") std::int64_t now_ns() noexcept;

// 64 bits that differ from run to run.
OURO_WASM_IMPORT("random_seed") std::int64_t random_seed() noexcept;

// How many threads the machine runs at the same time; at least 1.
OURO_WASM_IMPORT("core_count") std::int32_t core_count() noexcept;

// The upper bound of the linear memory, in pages of 64 KiB: the program itself has no instruction that tells
// it.
OURO_WASM_IMPORT("maximum_pages") std::uint32_t maximum_pages() noexcept;

// The size of the program's arguments, each with its closing zero byte, and the copying of them to `out`.
OURO_WASM_IMPORT("argument_bytes") std::size_t argument_bytes() noexcept;
OURO_WASM_IMPORT("copy_arguments") void copy_arguments(char* out) noexcept;

// Asks for a worker that enters ouro_wasm_thread_enter(thread) with the given stack and thread-local block.
// Returns at once; a worker that cannot be created is reported in the thread's state word.
OURO_WASM_IMPORT("start_thread")
void start_thread(void* thread, void* stack_top, void* tls_block, const char* name,
                  std::size_t name_bytes) noexcept;

// Ends the whole program, all threads included, with an exit code.
[[noreturn]] OURO_WASM_IMPORT("exit") void exit(std::int32_t code) noexcept;

// Ends the whole program as failed, with a message that names the calling thread.
[[noreturn]] OURO_WASM_IMPORT("abort") void abort(const char* message, std::size_t bytes) noexcept;

// Elementary functions for tests that compare with the platform's own; never for simulation code.
OURO_WASM_IMPORT("math1") double math1(std::int32_t function, double x) noexcept;
OURO_WASM_IMPORT("math2") double math2(std::int32_t function, double x, double y) noexcept;

#undef OURO_WASM_IMPORT

}  // namespace ouro::wasm_host
