#include "fork_safety.hpp"

#include <ouro/memory/detail/word_lock.hpp>

namespace ouro::detail {
namespace {

// Guards the list; taken before those in it.
constinit WordLock g_listing;
constinit ForkSafeLock* g_first = nullptr;

}  // namespace

ForkSafeLock::ForkSafeLock() noexcept {
    // Where forks cannot be followed, there are none, or the lock is an ordinary one.
    static_cast<void>(watch_forks());
    const WordLockScope lock(g_listing);
    next_ = g_first;
    if (g_first != nullptr) g_first->previous_ = this;
    g_first = this;
}

ForkSafeLock::~ForkSafeLock() {
    const WordLockScope lock(g_listing);
    (previous_ != nullptr ? previous_->next_ : g_first) = next_;
    if (next_ != nullptr) next_->previous_ = previous_;
}

void ForkSafeLock::hold_all() noexcept {
    g_listing.lock();
    for (ForkSafeLock* each = g_first; each != nullptr; each = each->next_)
        each->lock();
}

void ForkSafeLock::let_all_go() noexcept {
    for (ForkSafeLock* each = g_first; each != nullptr; each = each->next_)
        each->unlock();
    g_listing.unlock();
}

}  // namespace ouro::detail
