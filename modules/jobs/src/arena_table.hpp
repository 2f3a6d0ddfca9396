#pragma once

#include "chunk_range.hpp"
#include "counter.hpp"
#include "place_set.hpp"

#include <ouro/jobs/job_arenas.hpp>

#include <atomic>
#include <cstddef>
#include <optional>
#include <span>

namespace ouro::detail {

class PoolState;

struct alignas(kCacheLine) Arena {
    // Of whoever is in a scope on it: one thread.
    std::optional<FrameAllocator> frame;
    Counter scopes;
    std::atomic<std::size_t> high_water_bytes{0};
};

// All arenas of one pool: first those of the workers, by their numbers, then those to lend. Lies at the front
// of the block that the arenas lie in.
class ArenaTable {
public:
    // Requires: constructed arenas with their frames.
    ArenaTable(const PoolState* pool, std::span<Arena> arenas, unsigned workers) noexcept
        : pool_(pool),
          arenas_(arenas),
          workers_(workers),
          lent_(static_cast<unsigned>(arenas.size()) - workers) {}

    // The calling thread's, as a worker; null for others.
    [[nodiscard]] Arena* of_this_worker() const noexcept;
    // Null when all are lent.
    [[nodiscard]] Arena* lend() noexcept;
    // Of a worker's, nothing happens.
    void take_back(const Arena& arena) noexcept;

    [[nodiscard]] bool is_lending() const noexcept { return lent_.used() != 0; }
    [[nodiscard]] JobArenasStats stats() const noexcept;
    [[nodiscard]] Status check() const noexcept;
    void end_all() noexcept;

private:
    const PoolState* pool_;
    std::span<Arena> arenas_;
    unsigned workers_;
    Counter refused_scopes_;
    alignas(kCacheLine) PlaceSet lent_;
};

}  // namespace ouro::detail
