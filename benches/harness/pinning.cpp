#include "harness/pinning.hpp"

#include <ouro/os/thread.hpp>

namespace ouro::bench {

PinnedScope::PinnedScope(bool wanted) noexcept {
    if (!wanted || ::sched_getaffinity(0, sizeof(before_), &before_) != 0) return;
    pinned_ = os::pin_this_thread(os::core_count() - 1).has_value();
}

PinnedScope::~PinnedScope() {
    if (pinned_) ::sched_setaffinity(0, sizeof(before_), &before_);
}

}  // namespace ouro::bench
