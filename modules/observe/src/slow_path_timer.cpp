#include <ouro/observe/detail/ledger_paths.hpp>
#include <ouro/observe/detail/observe_image.hpp>
#include <ouro/observe/detail/slow_path_timer.hpp>
#include <ouro/os/clock.hpp>

namespace ouro::detail {

SlowPathTimer::SlowPathTimer(bool is_on) noexcept : began_ns_(is_on ? os::monotonic_ns() : 0) {}

SlowPathTimer::~SlowPathTimer() {
    if (began_ns_ == 0) return;
    LedgerShard* shard = t_ledger.shard;
    if (shard == nullptr) {
        ObserveImage* const image = observe_image();
        if (image == nullptr) return;
        shard = &image->ledger.shards[0];
    }
    // The first one is everybody's.
    shard->slow_ns.fetch_add(os::monotonic_ns() - began_ns_, std::memory_order_relaxed);
    shard->slow_allocations.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace ouro::detail
