#pragma once

#include "chunk_range.hpp"

#include <ouro/jobs/job_pool.hpp>

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

namespace ouro::detail {

// Where workers sleep, each on a word of its own, and how they are told of work. There is a count of news:
// who brings work adds to it and then looks for sleepers; who wants to sleep lies down where sleepers are
// looked for and then looks at the count. One of the two sees the other, so that no news are slept through.
//
// Who brings work often asks first whether anybody is idle. Who found nothing enters itself as idle and then
// looks once more for such work, which is seen by one of the two in the same way.
class Parking {
public:
    [[nodiscard]] std::uint64_t news() const noexcept { return news_.load(std::memory_order_acquire); }
    [[nodiscard]] bool has_news_since(std::uint64_t seen) const noexcept {
        return news_.load(std::memory_order_seq_cst) != seen;
    }
    [[nodiscard]] bool has_idle() const noexcept { return idle_.load(std::memory_order_seq_cst) != 0; }

    // There is work for so many more; wakes as many of those who sleep.
    void tell(unsigned wanted) noexcept {
        bring_news();
        wake(wanted);
    }
    void bring_news() noexcept { news_.fetch_add(1, std::memory_order_seq_cst); }
    void wake(unsigned wanted) noexcept {
        while (wanted-- != 0 && sleepers_.load(std::memory_order_seq_cst) != 0) {
            if (!wake_any()) return;
        }
    }

    // Around the last look and the wait that follows it.
    void begin_idle() noexcept { idle_.fetch_add(1, std::memory_order_seq_cst); }
    void end_idle() noexcept { idle_.fetch_sub(1, std::memory_order_relaxed); }

    // Sleeps unless there are news since `seen`, until woken; false when it did not sleep.
    bool sleep(unsigned worker, std::uint64_t seen) noexcept;

    [[nodiscard]] unsigned sleeper_count() const noexcept {
        return static_cast<unsigned>(std::popcount(sleepers_.load(std::memory_order_relaxed)));
    }
    [[nodiscard]] std::uint64_t wake_count() const noexcept { return wakes_.load(std::memory_order_relaxed); }
    // No bits beyond those of the workers.
    [[nodiscard]] bool is_sound(unsigned workers) const noexcept;

private:
    struct alignas(kCacheLine) Bed {
        std::atomic<std::uint32_t> word{kAwake};
    };
    static constexpr std::uint32_t kAwake = 0;
    static constexpr std::uint32_t kAsleep = 1;

    [[nodiscard]] bool wake_any() noexcept;

    static_assert(kMaxWorkers <= 64, "each worker has a bit");
    alignas(kCacheLine) std::atomic<std::uint64_t> news_{0};
    alignas(kCacheLine) std::atomic<std::uint32_t> idle_{0};
    // One bit a worker. Whoever clears another's bit has promised to wake it.
    alignas(kCacheLine) std::atomic<std::uint64_t> sleepers_{0};
    std::atomic<std::uint64_t> wakes_{0};
    std::array<Bed, kMaxWorkers> beds_{};
};

}  // namespace ouro::detail
