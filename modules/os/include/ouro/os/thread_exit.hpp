#pragma once

#include <ouro/base/expected.hpp>

#include <cstdint>

// What has to happen when a thread ends: one function a key, called on the ending thread with the value that
// this thread set for the key. It serves every thread of the process, whoever started it; in wasm32 those of
// os::Thread only. It does not run for the thread that ends the whole process.
//
// The values are plain thread-local words and the hooks a table of the process, so that nothing is allocated,
// with one exception: where a program had made more than 32 keys of its own before the first one here, the C
// library allocates once a thread, in the thread's first set_thread_exit_value. An allocator that serves the
// C library may be entered again from there; that inner call finds the thread prepared and comes back.
namespace ouro::os {

using ThreadExitHook = void (*)(void* value);

// Zero names no key.
struct ThreadExitKey {
    std::uint32_t number = 0;
};

inline constexpr std::uint32_t kMaxThreadExitKeys = 8;

// How often the hooks of an ending thread are called at most: again for what they, or what ends after them,
// have set meanwhile.
inline constexpr unsigned kThreadExitRounds = 3;

// Keys are for the life of the process. May be called from any thread. Fails with bad_argument (no hook) or
// capacity_exhausted.
[[nodiscard]] Expected<ThreadExitKey> make_thread_exit_key(ThreadExitHook hook) noexcept;

// Sets the calling thread's value; null means that there is nothing to do. The hook finds the value cleared,
// so that a hook that sets it again is called again. Fails with bad_argument (no such key), out_of_memory
// (see above) or capacity_exhausted (the thread has ended, and its hooks are not called any more); the value
// is then the old one.
Expected<void> set_thread_exit_value(ThreadExitKey key, void* value) noexcept;

// What the calling thread set last, or null. Requires: a key that was made.
[[nodiscard]] void* thread_exit_value(ThreadExitKey key) noexcept;

}  // namespace ouro::os
