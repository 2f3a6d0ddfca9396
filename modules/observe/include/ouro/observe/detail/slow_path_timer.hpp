#pragma once

#include <cstdint>

namespace ouro::detail {

// Adds the time of a scope to that of allocations which did not come from credit. Two looks at the clock:
// nothing for hot paths.
class SlowPathTimer {
public:
    explicit SlowPathTimer(bool is_on) noexcept;
    ~SlowPathTimer();
    SlowPathTimer(const SlowPathTimer&) = delete;
    SlowPathTimer& operator=(const SlowPathTimer&) = delete;

private:
    // Zero when it is off.
    std::uint64_t began_ns_;
};

}  // namespace ouro::detail
