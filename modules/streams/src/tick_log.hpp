#pragma once

#include "carver.hpp"

#include <ouro/base/assert.hpp>

#include <cstdint>
#include <span>

namespace ouro::detail {

// What a tick changed: pages in ascending order, and, in a log that has them, where each is kept and where it
// was kept before.
struct TickChanges {
    std::span<std::uint32_t> pages;
    std::span<std::uint32_t> slots;
    std::span<std::uint32_t> previous;
};

struct TickHashes {
    std::uint64_t portable = 0;
    std::uint64_t process_bound = 0;
};

// The kept ticks, oldest to newest, each with its changes. Ticks are added at the new end and taken away at
// both.
class TickLog {
public:
    // A log whose versions move has only the pages.
    void carve(Carver& carver, std::uint32_t ticks, std::uint32_t pages, std::uint64_t changes,
               bool has_slots = true) noexcept;

    // Requires: not empty, where the value needs a tick.
    [[nodiscard]] std::uint32_t oldest() const noexcept { return oldest_; }
    [[nodiscard]] std::uint32_t newest() const noexcept { return oldest_ + count_ - 1; }
    [[nodiscard]] std::uint32_t count() const noexcept { return count_; }
    [[nodiscard]] std::uint32_t capacity() const noexcept {
        return static_cast<std::uint32_t>(records_.size());
    }
    [[nodiscard]] bool holds(std::uint64_t tick) const noexcept {
        return tick >= oldest_ && tick - oldest_ < count_;
    }

    // How many changes there are room for, gaps aside, and how many there are.
    [[nodiscard]] std::uint64_t room() const noexcept { return pages_.size(); }
    [[nodiscard]] std::uint64_t change_count() const noexcept;

    // True when a tick with so many changes can be added.
    [[nodiscard]] bool has_room(std::uint32_t changes) const noexcept {
        return count_ < records_.size() && place_for(changes) != kNowhere;
    }
    // Adds the tick behind the newest, or the given one when there is none. Requires: has_room(changes).
    TickChanges add(std::uint32_t changes, std::uint32_t first_tick = 0) noexcept;
    void drop_oldest() noexcept;
    // Takes away the ticks behind this one. Requires: holds(tick).
    void drop_behind(std::uint32_t tick) noexcept;
    void clear() noexcept { count_ = 0; }

    [[nodiscard]] TickChanges changes(std::uint32_t tick) const noexcept;
    [[nodiscard]] TickHashes& hashes(std::uint32_t tick) const noexcept { return record(tick).hashes; }

private:
    struct Record {
        std::uint64_t begin;
        std::uint32_t changes;
        std::uint32_t unused;
        TickHashes hashes;
    };
    static constexpr std::uint64_t kNowhere = ~std::uint64_t{0};

    [[nodiscard]] Record& record(std::uint32_t tick) const noexcept {
        OURO_DEBUG_ASSERT(holds(tick), "the tick is not kept");
        return records_[tick % records_.size()];
    }
    [[nodiscard]] std::uint64_t place_for(std::uint32_t changes) const noexcept;

    std::span<Record> records_;
    std::span<std::uint32_t> pages_;
    std::span<std::uint32_t> slots_;
    std::span<std::uint32_t> previous_;
    std::uint32_t oldest_ = 0;
    std::uint32_t count_ = 0;
};

}  // namespace ouro::detail
