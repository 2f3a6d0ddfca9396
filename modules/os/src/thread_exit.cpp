#include "thread_exit_table.hpp"

#include <ouro/base/assert.hpp>
#include <ouro/os/thread_exit.hpp>

#include <array>
#include <atomic>
#include <utility>

namespace ouro::os {
namespace {

constinit std::array<std::atomic<ThreadExitHook>, kMaxThreadExitKeys> hooks{};
constinit std::atomic<std::uint32_t> key_count{0};

struct ThreadValues {
    std::array<void*, kMaxThreadExitKeys> values{};
    bool is_armed = false;
    // How often the hooks have run on the ending thread.
    unsigned rounds = 0;
};

// Part of the thread's static block: reaching it never allocates, not even in a library that was loaded late.
[[gnu::tls_model("initial-exec")]] constinit thread_local ThreadValues mine;

bool is_key(ThreadExitKey key) noexcept {
    return key.number != 0 && key.number <= key_count.load(std::memory_order_acquire);
}

}  // namespace

Expected<ThreadExitKey> make_thread_exit_key(ThreadExitHook hook) noexcept {
    if (hook == nullptr) return Status::bad_argument;
    std::uint32_t taken = key_count.load(std::memory_order_relaxed);
    do {
        if (taken == kMaxThreadExitKeys) return Status::capacity_exhausted;
    } while (!key_count.compare_exchange_weak(taken, taken + 1, std::memory_order_acq_rel));
    hooks[taken].store(hook, std::memory_order_release);
    return ThreadExitKey{taken + 1};
}

Expected<void> set_thread_exit_value(ThreadExitKey key, void* value) noexcept {
    if (!is_key(key)) return Status::bad_argument;
    if (value != nullptr && !mine.is_armed) {
        if (mine.rounds == kThreadExitRounds) return Status::capacity_exhausted;
        // Before the call, which may come back here through an allocator.
        mine.is_armed = true;
        const Status armed = arm_thread_exit();
        if (armed != Status::ok) {
            mine.is_armed = false;
            return armed;
        }
    }
    mine.values[key.number - 1] = value;
    return {};
}

void* thread_exit_value(ThreadExitKey key) noexcept {
    OURO_DEBUG_ASSERT(is_key(key), "a key comes from make_thread_exit_key");
    return mine.values[key.number - 1];
}

void run_thread_exit_hooks() noexcept {
    mine.is_armed = false;
    ++mine.rounds;
    for (std::size_t index = 0; index < mine.values.size(); ++index) {
        void* value = std::exchange(mine.values[index], nullptr);
        if (value != nullptr) hooks[index].load(std::memory_order_acquire)(value);
    }
}

bool is_thread_exit_armed() noexcept {
    return mine.is_armed;
}

}  // namespace ouro::os
