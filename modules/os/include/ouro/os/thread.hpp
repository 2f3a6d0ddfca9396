#pragma once

#include <ouro/base/expected.hpp>

#include <cstddef>
#include <cstdint>

// Threads of the system, or web workers in wasm32.
namespace ouro::os {

struct ThreadOptions {
    // Shown by debuggers and profilers; the system keeps the first 15 characters.
    const char* name = nullptr;
    // Zero: the system's default (1 MiB in wasm32). Rounded up to pages.
    std::size_t stack_bytes = 0;
    // A core from 0 to core_count() - 1 that the thread stays on, or kAnyCore.
    unsigned core = ~0U;
};

inline constexpr unsigned kAnyCore = ~0U;

// A running thread. Movable; must be joined before it is destroyed (assert).
class Thread {
public:
    using Entry = void (*)(void* argument);

    // Fails with too_many_threads, out_of_memory, bad_argument (no entry, a stack too small, no such core) or
    // not_supported (no worker can be made here, or no affinity).
    [[nodiscard]] static Expected<Thread> start(Entry entry, void* argument,
                                                const ThreadOptions& options = {}) noexcept;

    constexpr Thread() noexcept = default;
    Thread(Thread&& other) noexcept : native_(other.native_) { other.native_ = 0; }
    Thread& operator=(Thread&& other) noexcept;
    ~Thread();

    // Waits for the end of the thread; what it wrote is visible afterwards. Requires: is_joinable().
    void join() noexcept;
    [[nodiscard]] bool is_joinable() const noexcept { return native_ != 0; }

private:
    explicit Thread(std::uintptr_t native) noexcept : native_(native) {}

    std::uintptr_t native_ = 0;
};

// How many cores this process may use; at least one.
[[nodiscard]] unsigned core_count() noexcept;

// Keeps the calling thread on one of those cores: 0 to core_count() - 1, else bad_argument.
Expected<void> pin_this_thread(unsigned core) noexcept;

// A number that no other live thread of the process has; never zero.
[[nodiscard]] std::uint64_t this_thread_id() noexcept;

// Lets another thread run first.
void yield_thread() noexcept;

// Tells the core that this is a spin loop.
inline void spin_pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

}  // namespace ouro::os
