#include "parking.hpp"

#include <ouro/base/bits.hpp>
#include <ouro/os/futex.hpp>

namespace ouro::detail {

bool Parking::wake_any() noexcept {
    std::uint64_t sleepers = sleepers_.load(std::memory_order_seq_cst);
    while (sleepers != 0) {
        const std::uint64_t bit = sleepers & (~sleepers + 1);
        if (!sleepers_.compare_exchange_weak(sleepers, sleepers & ~bit, std::memory_order_seq_cst)) continue;
        Bed& bed = beds_[static_cast<std::size_t>(std::countr_zero(bit))];
        bed.word.store(kAwake, std::memory_order_release);
        os::wake_one(bed.word);
        wakes_.fetch_add(1, std::memory_order_relaxed);
        return true;
    }
    return false;
}

bool Parking::sleep(unsigned worker, std::uint64_t seen) noexcept {
    const std::uint64_t bit = std::uint64_t{1} << worker;
    Bed& bed = beds_[worker];
    bed.word.store(kAsleep, std::memory_order_relaxed);
    sleepers_.fetch_or(bit, std::memory_order_seq_cst);
    if (has_news_since(seen)) {
        const bool was_mine = (sleepers_.fetch_and(~bit, std::memory_order_seq_cst) & bit) != 0;
        if (was_mine) return false;
        // Somebody is about to wake this worker: the word must not be left behind for it.
    }
    while (bed.word.load(std::memory_order_acquire) == kAsleep)
        os::wait_on(bed.word, kAsleep);
    return true;
}

bool Parking::is_sound(unsigned workers) const noexcept {
    return (sleepers_.load(std::memory_order_acquire) & ~low_mask<std::uint64_t>(workers)) == 0;
}

}  // namespace ouro::detail
