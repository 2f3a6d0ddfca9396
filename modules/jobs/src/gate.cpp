#include "gate.hpp"

#include <ouro/os/futex.hpp>

namespace ouro::detail {

bool Gate::try_join() noexcept {
    std::uint32_t word = word_.load(std::memory_order_relaxed);
    while ((word & kOpen) != 0) {
        if (word_.compare_exchange_weak(word, word + 1, std::memory_order_acquire, std::memory_order_relaxed))
            return true;
    }
    return false;
}

void Gate::leave() noexcept {
    const std::uint32_t before = word_.fetch_sub(1, std::memory_order_release);
    // By now the owner may be gone and the gate may serve another: that one only looks once more.
    if (before == (kOwnerSleeps | 1)) os::wake_all(word_);
}

void Gate::close_and_wait(Patience& patience) noexcept {
    const std::uint32_t before = word_.fetch_and(~kOpen, std::memory_order_acquire);
    if (before == kOpen) return;
    if (!patience.spin_until([this]() noexcept { return is_at_rest(); }))
        patience.sleep([this]() noexcept { sleep_until_empty(); });
}

void Gate::sleep_until_empty() noexcept {
    std::uint32_t word = word_.fetch_or(kOwnerSleeps, std::memory_order_acquire) | kOwnerSleeps;
    while ((word & kInside) != 0) {
        os::wait_on(word_, word);
        word = word_.load(std::memory_order_acquire);
    }
    word_.store(0, std::memory_order_relaxed);
}

}  // namespace ouro::detail
