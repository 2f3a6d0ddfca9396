#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ouro::detail {

// The most there was lately of something that rises and falls, such as the memory in use of a program that
// works in waves. It sinks towards what there is now by a half each second; what happened since the last look
// counts as new.
class RecentPeak {
public:
    static constexpr std::uint64_t kHalfLifeNs = 1'000'000'000;

    void note(std::size_t now) noexcept {
        std::size_t peak = newest_.load(std::memory_order_relaxed);
        while (peak < now && !newest_.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
        }
    }

    // Threads that come at once may let it sink once only: it is a guess anyway.
    [[nodiscard]] std::size_t at(std::uint64_t time_ns, std::size_t now) noexcept {
        const std::size_t newest = std::max(now, newest_.load(std::memory_order_relaxed));
        const std::size_t older = std::max(now, older_.load(std::memory_order_relaxed));
        std::uint64_t since = since_ns_.load(std::memory_order_relaxed);
        const std::uint64_t halvings = time_ns > since ? (time_ns - since) / kHalfLifeNs : 0;
        if (halvings == 0 || !since_ns_.compare_exchange_strong(since, time_ns, std::memory_order_relaxed))
            return std::max(newest, older);
        const std::size_t sunk = halvings < 64 ? now + ((older - now) >> halvings) : now;
        older_.store(std::max(sunk, newest), std::memory_order_relaxed);
        newest_.store(now, std::memory_order_relaxed);
        return std::max(sunk, newest);
    }

private:
    // Since the last look, and before.
    std::atomic<std::size_t> newest_ = 0;
    std::atomic<std::size_t> older_ = 0;
    std::atomic<std::uint64_t> since_ns_ = 0;
};

}  // namespace ouro::detail
