#pragma once

#include <cstdint>

namespace ouro::detail {

// Adds a scope to the count of allocations which did not come from credit, and its time or an estimate of it:
// nothing for hot paths.
class SlowPathTimer {
public:
    explicit SlowPathTimer(bool is_on) noexcept;
    ~SlowPathTimer();
    SlowPathTimer(const SlowPathTimer&) = delete;
    SlowPathTimer& operator=(const SlowPathTimer&) = delete;

private:
    bool is_on_;
    // For how many its time stands.
    std::uint64_t weight_ = 0;
    std::uint64_t began_ns_ = 0;
};

}  // namespace ouro::detail
