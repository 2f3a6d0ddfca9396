#pragma once

#include <ouro/memory/detail/word_lock.hpp>

// What each part of the module does around a fork, so that the child finds no lock held by a thread that it
// does not have.
namespace ouro::detail {

// While the thread holds all locks of the ledger for a fork. Hooks of others run meanwhile, and may allocate.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local bool t_is_forking = false;

// A lock of the ledger: a thread that forks has it already.
class LedgerLock {
public:
    void lock() noexcept {
        if (!t_is_forking) lock_.lock();
    }
    [[nodiscard]] bool try_lock() noexcept { return t_is_forking || lock_.try_lock(); }
    void unlock() noexcept {
        if (!t_is_forking) lock_.unlock();
    }

private:
    WordLock lock_;
};

class LedgerLockScope {
public:
    explicit LedgerLockScope(LedgerLock& lock) noexcept : lock_(lock) { lock_.lock(); }
    ~LedgerLockScope() { lock_.unlock(); }
    LedgerLockScope(const LedgerLockScope&) = delete;
    LedgerLockScope& operator=(const LedgerLockScope&) = delete;

private:
    LedgerLock& lock_;
};

// Once, from the first who needs it; later calls do nothing.
void watch_forks_of_ledger() noexcept;

void hold_image_for_fork() noexcept;
void resume_image() noexcept;
void hold_default_tags_for_fork() noexcept;
void resume_default_tags() noexcept;
void hold_budgets_for_fork() noexcept;
void resume_budgets() noexcept;
void hold_shards_for_fork() noexcept;
void resume_shards() noexcept;
void hold_accounts_for_fork() noexcept;
void resume_accounts() noexcept;

// In the child, while the locks are still held: what threads left half done that it does not have. The cells
// first, for the accounts are their sums.
void repair_shards_in_child() noexcept;
void repair_accounts_in_child() noexcept;
void repair_events_in_child() noexcept;

}  // namespace ouro::detail
