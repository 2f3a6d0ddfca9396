#pragma once

#include "memory/pool_loads.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace ouro::bench {

// A peer's loads for blocks of one size, or none where the peer is not on this machine.
struct PoolPeer {
    std::string name;
    std::string version;
    PoolLoads loads;

    [[nodiscard]] bool is_here() const noexcept { return loads.lifo != nullptr; }
};

// What typed pools hold. Its constructor leaves the bytes to the load.
struct PooledObject {
    PooledObject() noexcept {}  // NOLINT(modernize-use-equals-default)
    std::array<std::uint64_t, 8> words;
};

[[nodiscard]] PoolPeer boost_object_pool(const ChurnOrder& order);
[[nodiscard]] PoolPeer boost_pool(std::size_t bytes, const ChurnOrder& order);
[[nodiscard]] PoolPeer pmr_pool(std::size_t bytes, const ChurnOrder& order);
[[nodiscard]] PoolPeer foonathan_pool(std::size_t bytes, const ChurnOrder& order);

}  // namespace ouro::bench
