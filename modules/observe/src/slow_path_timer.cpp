#include <ouro/observe/detail/ledger_paths.hpp>
#include <ouro/observe/detail/observe_image.hpp>
#include <ouro/observe/detail/slow_path_timer.hpp>
#include <ouro/os/clock.hpp>

namespace ouro::detail {

namespace {

// A thread's first ones are all timed; later each sixteenth, for as many: at a new peak every allocation is
// slow, and two looks at the clock would be a quarter of it.
constexpr std::uint64_t kWeight = 16;

std::uint64_t weight_of(std::uint64_t number) noexcept {
    if (number < kWeight) return 1;
    return number % kWeight == 0 ? kWeight : 0;
}

// The calling thread's, or everybody's; null where there is no memory for any.
LedgerShard* shard_here() noexcept {
    if (t_ledger.shard != nullptr) return t_ledger.shard;
    ObserveImage* const image = observe_image();
    return image != nullptr ? &image->ledger.shards[0] : nullptr;
}

}  // namespace

SlowPathTimer::SlowPathTimer(bool is_on) noexcept : is_on_(is_on) {
    if (!is_on) return;
    const LedgerShard* const shard = shard_here();
    if (shard == nullptr) return;
    weight_ = weight_of(shard->slow_allocations.load(std::memory_order_relaxed));
    if (weight_ != 0) began_ns_ = os::monotonic_ns();
}

SlowPathTimer::~SlowPathTimer() {
    LedgerShard* const shard = is_on_ ? shard_here() : nullptr;
    if (shard == nullptr) return;
    if (weight_ != 0)
        shard->slow_ns.fetch_add((os::monotonic_ns() - began_ns_) * weight_, std::memory_order_relaxed);
    shard->slow_allocations.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace ouro::detail
