#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/os/clock.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ouro {

// How much may be asked for within an interval of time. Intervals follow one another without gaps; what was
// not used in one is not carried into the next.
struct RateLimit {
    static constexpr std::uint64_t kNone = ~std::uint64_t{0};
    // The largest limit that can be kept, beside none.
    static constexpr std::uint64_t kMax = (std::uint64_t{1} << 40) - 1;

    std::uint64_t bytes = kNone;
    std::uint64_t calls = kNone;
    std::uint64_t interval_ns = 1'000'000'000;
    // Nanoseconds that never go backwards; tests bring their own.
    std::uint64_t (*clock)() noexcept = os::monotonic_ns;
};

// Counts requests against a RateLimit, from any thread and without locks. Without a limit it costs one load.
class RateGate {
public:
    // From now on, with nothing counted yet. Fails with bad_argument: no interval, no clock, or a limit above
    // kMax.
    Expected<void> set(const RateLimit& limit) noexcept;
    void clear() noexcept { active_.store(false, std::memory_order_release); }

    // True when the request may pass; it counts then, whatever becomes of it.
    [[nodiscard]] bool admit(std::size_t bytes) noexcept {
        if (!active_.load(std::memory_order_acquire)) [[likely]]
            return true;
        return admit_counted(bytes);
    }

private:
    [[nodiscard]] bool admit_counted(std::size_t bytes) noexcept;

    std::atomic<bool> active_{false};
    std::atomic<std::uint64_t> bytes_limit_{RateLimit::kNone};
    std::atomic<std::uint64_t> calls_limit_{RateLimit::kNone};
    std::atomic<std::uint64_t> interval_ns_{0};
    std::atomic<std::uint64_t (*)() noexcept> clock_{nullptr};
    // The interval's number above, what was used in it below.
    std::atomic<std::uint64_t> bytes_used_{0};
    std::atomic<std::uint64_t> calls_used_{0};
};

}  // namespace ouro
