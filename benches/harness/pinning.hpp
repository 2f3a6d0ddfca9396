#pragma once

#include <sched.h>

namespace ouro::bench {

// Keeps the calling thread on the last core it may use, where a scope asks for it; undone at the end. Threads
// started inside inherit it, so that cases with threads of their own do without.
class PinnedScope {
public:
    explicit PinnedScope(bool wanted) noexcept;
    ~PinnedScope();
    PinnedScope(const PinnedScope&) = delete;
    PinnedScope& operator=(const PinnedScope&) = delete;

private:
    cpu_set_t before_{};
    bool pinned_ = false;
};

}  // namespace ouro::bench
