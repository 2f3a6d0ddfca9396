#pragma once

#include <ouro/ecs/detail/world_core.hpp>

namespace ouro::detail {

// While rows are visited.
class IterationScope {
public:
    explicit IterationScope(WorldCore& core) noexcept : core_(core) { core_.change_iterations(1); }
    ~IterationScope() { core_.change_iterations(-1); }
    IterationScope(const IterationScope&) = delete;
    IterationScope& operator=(const IterationScope&) = delete;

private:
    WorldCore& core_;
};

}  // namespace ouro::detail
