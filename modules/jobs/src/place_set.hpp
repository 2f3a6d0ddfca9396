#pragma once

#include <ouro/base/bits.hpp>

#include <atomic>
#include <bit>
#include <cstdint>

namespace ouro::detail {

// Which of up to 32 places are taken, one bit each, by any number of threads.
class PlaceSet {
public:
    static constexpr unsigned kNone = ~0U;

    explicit PlaceSet(unsigned count) noexcept : all_(low_mask<std::uint32_t>(count)) {}

    // The lowest free place, or kNone.
    [[nodiscard]] unsigned claim() noexcept {
        std::uint32_t used = used_.load(std::memory_order_relaxed);
        for (;;) {
            const std::uint32_t free = ~used & all_;
            if (free == 0) return kNone;
            const std::uint32_t bit = free & (~free + 1);
            if (used_.compare_exchange_weak(used, used | bit, std::memory_order_acquire,
                                            std::memory_order_relaxed))
                return static_cast<unsigned>(std::countr_zero(bit));
        }
    }
    void release(unsigned place) noexcept {
        used_.fetch_and(~(std::uint32_t{1} << place), std::memory_order_release);
    }
    // A bit for each place that is taken at this moment.
    [[nodiscard]] std::uint32_t used() const noexcept { return used_.load(std::memory_order_acquire); }

private:
    std::atomic<std::uint32_t> used_{0};
    std::uint32_t all_;
};

}  // namespace ouro::detail
