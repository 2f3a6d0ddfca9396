#pragma once

#include "memory/pool_loads.hpp"

#include <cstddef>
#include <string>

namespace ouro::bench {

// A peer's loads for blocks of one size, or none where the peer is not on this machine.
struct PoolPeer {
    std::string name;
    std::string version;
    PoolLoads loads;

    [[nodiscard]] bool is_here() const noexcept { return loads.lifo != nullptr; }
};

[[nodiscard]] PoolPeer boost_pool(std::size_t bytes, const ChurnOrder& order);
[[nodiscard]] PoolPeer pmr_pool(std::size_t bytes, const ChurnOrder& order);
[[nodiscard]] PoolPeer foonathan_pool(std::size_t bytes, const ChurnOrder& order);

}  // namespace ouro::bench
