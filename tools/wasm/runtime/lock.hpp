#pragma once

#include "thread.h"

#include <atomic>
#include <cstdint>

namespace ouro::wasm {

// A mutex in one word: 0 free, 1 held, 2 held and perhaps waited for. Zero-initialised, so that it works
// before the static constructors ran.
inline void lock_word(std::uint32_t* word) noexcept {
    std::atomic_ref state(*word);
    std::uint32_t seen = 0;
    if (state.compare_exchange_strong(seen, 1, std::memory_order_acquire)) return;
    while (state.exchange(2, std::memory_order_acquire) != 0)
        ouro_wasm_wait32(word, 2, -1);
}

inline bool try_lock_word(std::uint32_t* word) noexcept {
    std::uint32_t seen = 0;
    return std::atomic_ref(*word).compare_exchange_strong(seen, 1, std::memory_order_acquire);
}

inline void unlock_word(std::uint32_t* word) noexcept {
    if (std::atomic_ref(*word).exchange(0, std::memory_order_release) == 2) ouro_wasm_notify(word, 1);
}

struct Lock {
    std::uint32_t word = 0;
};

class LockGuard {
public:
    explicit LockGuard(Lock& lock) noexcept : lock_(lock) { lock_word(&lock_.word); }
    ~LockGuard() { unlock_word(&lock_.word); }
    LockGuard(const LockGuard&) = delete;
    LockGuard& operator=(const LockGuard&) = delete;

private:
    Lock& lock_;
};

}  // namespace ouro::wasm
