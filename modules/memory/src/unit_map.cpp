#include "run_bits.hpp"

#include <ouro/base/align.hpp>
#include <ouro/base/bits.hpp>
#include <ouro/memory/detail/unit_map.hpp>
#include <ouro/memory/seal.hpp>
#include <ouro/os/clock.hpp>
#include <ouro/os/thread.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <algorithm>

namespace ouro::detail {
namespace {

// What is made usable at once: an eighth of what there is, within these.
constexpr std::size_t kLeastGrowth = 16;
constexpr std::size_t kMostGrowth = 1024;
// What a purge holds at once: others may need it.
constexpr unsigned kMostPurged = 16;
// How long to wait for what a purge holds: returning it takes some microseconds, longer only if its thread is
// stopped. To grow costs memory, to fail may cost the program.
constexpr std::uint64_t kPatienceToGrowNs = 100'000;
constexpr std::uint64_t kPatienceToFailNs = 200'000'000;

// How often a search begins anew because something was given back meanwhile, whoever did that.
constexpr unsigned kRetries = 4;

constexpr unsigned kHalf = 32;
constexpr std::uint64_t kLowerHalf = low_mask<std::uint64_t>(kHalf);

}  // namespace

UnitMap::UnitMap(const Memory& memory, const Growth& growth) noexcept
    : units_(memory.units),
      taken_(memory.taken),
      dirty_(memory.dirty),
      growth_(growth),
      usable_(memory.usable_units) {}

Expected<UnitMap::Run> UnitMap::take(std::size_t count) noexcept {
    if (count == 0) return Status::zero_size;
    if (count > unit_count()) return Status::capacity_exhausted;
    for (Search search;;) {
        begin(search);
        const std::size_t usable = usable_units();
        const std::size_t first = find_and_claim(count, usable);
        if (first != kNoUnit)
            return Run{first, count, clear_dirty(first, count) == 0 && growth_.make_usable != nullptr};
        if (should_retry(search, can_fit(count, usable) ? kPatienceToGrowNs : kPatienceToFailNs)) continue;
        const auto grown = grow(count, usable);
        if (!grown) return grown.status();
    }
}

bool UnitMap::take_at(std::size_t first, std::size_t count) noexcept {
    if (count > usable_units() || first > usable_units() - count || !claim(first, count)) return false;
    clear_dirty(first, count);
    return true;
}

void UnitMap::give_back(std::size_t first, std::size_t count) noexcept {
    for_each_run_word(first, count, [&](std::size_t word, std::uint64_t mask) {
        dirty_[word].fetch_or(mask, std::memory_order_relaxed);
        return true;
    });
    free_dirty_.fetch_add(count, std::memory_order_relaxed);
    unclaim(first, count);
}

std::size_t UnitMap::find_and_claim(std::size_t count, std::size_t usable) noexcept {
    return RunBits(taken_, hint_).find_and_claim(count, usable);
}

bool UnitMap::claim(std::size_t first, std::size_t count) noexcept {
    return RunBits(taken_, hint_).claim(first, count);
}

void UnitMap::unclaim(std::size_t first, std::size_t count) noexcept {
    RunBits(taken_, hint_).unclaim(first, count);
}

std::size_t UnitMap::clear_dirty(std::size_t first, std::size_t count) noexcept {
    std::size_t cleared = 0;
    for_each_run_word(first, count, [&](std::size_t word, std::uint64_t mask) {
        if ((dirty_[word].load(std::memory_order_relaxed) & mask) == 0) return true;
        const std::uint64_t old = dirty_[word].fetch_and(~mask, std::memory_order_relaxed);
        cleared += static_cast<std::size_t>(std::popcount(old & mask));
        return true;
    });
    if (cleared != 0) free_dirty_.fetch_sub(cleared, std::memory_order_relaxed);
    return cleared;
}

bool UnitMap::can_fit(std::size_t count, std::size_t usable) const noexcept {
    if (growth_.make_usable == nullptr) return false;
    std::size_t room = unit_count() - usable;
    if (room == 0) return false;
    // The new units continue the free ones at the end.
    while (room < count && usable != 0 && !is_taken(--usable))
        ++room;
    return room >= count;
}

Expected<void> UnitMap::grow(std::size_t count, std::size_t usable) noexcept {
    if (!can_fit(count, usable)) return Status::capacity_exhausted;
    const Status unsealed = check_unsealed();
    if (unsealed != Status::ok) return unsealed;
    const std::size_t more = std::max(count, std::clamp(usable / 8, kLeastGrowth, kMostGrowth));
    std::size_t end = usable + std::min(more, unit_count() - usable);
    if (end > growth_.huge_from_units) end = std::min(align_up(end, kHugeUnits), unit_count());
    const auto grown = growth_.make_usable(growth_.context, usable, end);
    if (!grown) return grown;
    std::size_t expected = usable;
    while (expected < end && !usable_.compare_exchange_weak(expected, end, std::memory_order_acq_rel)) {
    }
    if (growth_.has_grown != nullptr) growth_.has_grown(growth_.context);
    return {};
}

void UnitMap::begin(Search& search) const noexcept {
    search.purges = purges_.load(std::memory_order_acquire);
    search.version = version();
}

bool UnitMap::should_retry(Search& search, std::uint64_t patience_ns) noexcept {
    // With the fence in purge(): whoever saw a unit held by a purge sees the purge here, or that it ended,
    // and then what it gave back.
    std::atomic_thread_fence(std::memory_order_acquire);
    for (;;) {
        const std::uint64_t purges = purges_.load(std::memory_order_acquire);
        const bool is_purging = (purges & kLowerHalf) != 0;
        const bool has_changed = version() != search.version;
        // Others who look for runs give back what they could not complete.
        if (has_changed && search.retries++ < kRetries) return true;
        if (!is_purging && (purges == search.purges || !has_changed)) return false;
        if (purges == stuck_purges_.load(std::memory_order_relaxed)) return false;
        const std::uint64_t now_ns = os::monotonic_ns();
        if (search.begin_ns == 0) search.begin_ns = now_ns;
        if (now_ns - search.begin_ns > patience_ns) {
            stuck_purges_.store(purges, std::memory_order_relaxed);
            return false;
        }
        if (has_changed) return true;
        os::yield_thread();
    }
}

Expected<void> UnitMap::prewarm(std::size_t count) noexcept {
    const auto run = take(count);
    if (!run) return run.status();
    // Nothing is written, so that they need not become dirty.
    const auto filled = os::prefault({address_of(run->first), count * kUnitBytes});
    if (run->reads_zero) {
        unclaim(run->first, count);
    } else {
        give_back(run->first, count);
    }
    return filled;
}

std::size_t UnitMap::purge() noexcept {
    if (growth_.make_usable == nullptr || is_sealed()) return 0;
    purges_.fetch_add(1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    const std::size_t usable = usable_units();
    std::size_t purged = 0;
    for (std::size_t word = 0; word * kUnitsPerWord < usable && free_dirty_units() != 0; ++word)
        purged += purge_word(word);
    // One fewer in the lower half, one more in the upper.
    purges_.fetch_add(kLowerHalf, std::memory_order_release);
    return purged * kUnitBytes;
}

std::size_t UnitMap::purge_word(std::size_t word) noexcept {
    std::size_t purged = 0;
    std::uint64_t wanted = dirty_[word].load(std::memory_order_relaxed);
    while ((wanted &= ~taken_[word].load(std::memory_order_relaxed)) != 0) {
        const auto bit = static_cast<unsigned>(std::countr_zero(wanted));
        const auto run = static_cast<unsigned>(std::countr_one(wanted >> bit));
        const unsigned count = std::min(run, kMostPurged);
        wanted &= ~(low_mask<std::uint64_t>(count) << bit);
        const std::size_t first = word * kUnitsPerWord + bit;
        if (!claim(first, count)) continue;
        // When the system refuses, the memory simply stays, and stays marked.
        if (os::discard({address_of(first), count * kUnitBytes})) purged += clear_dirty(first, count);
        unclaim(first, count);
    }
    return purged;
}

void UnitMap::forget_threads() noexcept {
    purges_.store(purges_.load(std::memory_order_relaxed) & ~kLowerHalf, std::memory_order_relaxed);
    // Their last steps may be missing: the counting of what they made dirty or clean, and the telling of what
    // they gave back.
    std::size_t dirty = 0;
    for (std::size_t word = 0; word * kUnitsPerWord < usable_units(); ++word) {
        const std::uint64_t taken = taken_[word].load(std::memory_order_relaxed);
        dirty +=
            static_cast<std::size_t>(std::popcount(dirty_[word].load(std::memory_order_relaxed) & ~taken));
    }
    free_dirty_.store(dirty, std::memory_order_relaxed);
    hint_.store((hint_.load(std::memory_order_relaxed) & ~kLowerHalf) + (std::uint64_t{1} << kHalf),
                std::memory_order_relaxed);
}

bool UnitMap::is_taken(std::size_t unit) const noexcept {
    const std::uint64_t word = taken_[unit / kUnitsPerWord].load(std::memory_order_relaxed);
    return ((word >> (unit % kUnitsPerWord)) & 1U) != 0;
}

}  // namespace ouro::detail
