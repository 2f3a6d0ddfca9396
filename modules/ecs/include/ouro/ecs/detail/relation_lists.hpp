#pragma once

#include <ouro/ecs/detail/sparse_set.hpp>

#include <cstdint>

namespace ouro::detail {

// What Link<R> and Sources<R> are, whatever the relation; see relations.hpp. Neighbours are slots plus one.
struct LinkValue {
    Entity target;
    std::uint32_t previous;
    std::uint32_t next;
};
struct SourcesValue {
    std::uint32_t first;
    std::uint32_t last;
    std::uint32_t count;
    std::uint32_t unused;
};

// One relation: each source has a link, each target the ends of a list that runs through the links of its
// sources, in the order in which they came.
class RelationLists {
public:
    // Requires: the table of the links of a relation that was used.
    RelationLists(WorldCore& core, SparseTable& links) noexcept
        : core_(core), links_(core, links), sources_(core, *core.sparse_at(links.partner)) {}

    // Makes the tables each other's.
    static void pair(WorldCore& core, SparseTable& links, SparseTable& sources) noexcept;

    [[nodiscard]] Entity target(std::uint32_t source) const noexcept {
        const std::uint32_t row = links_.find(source);
        return row == 0 ? Entity() : links_.cell<LinkValue>(row - 1).target;
    }
    [[nodiscard]] std::uint32_t first_source(std::uint32_t target) const noexcept {
        const std::uint32_t row = sources_.find(target);
        return row == 0 ? 0 : sources_.cell<SourcesValue>(row - 1).first;
    }
    [[nodiscard]] std::uint32_t next_source(std::uint32_t source) const noexcept {
        return links_.cell<LinkValue>(links_.find(source) - 1).next;
    }
    [[nodiscard]] std::uint32_t count(std::uint32_t target) const noexcept {
        const std::uint32_t row = sources_.find(target);
        return row == 0 ? 0 : sources_.cell<SourcesValue>(row - 1).count;
    }
    // Whether the one is among those that the other leads to, or is it itself; or the way there has no end.
    [[nodiscard]] bool leads_to(Entity from, Entity to) const noexcept;

    // Room for a link of that slot, so that link() does not fail. capacity_exhausted.
    [[nodiscard]] Status reserve(std::uint32_t source, std::uint32_t target) noexcept {
        const Status status = links_.reserve(source);
        return status == Status::ok ? sources_.reserve(target) : status;
    }
    // Last of the target's sources; what it was linked to before, it is not any more. Requires: both are
    // alive, and there is room.
    void link(Entity source, Entity target) noexcept;
    // Requires: it has a link.
    void unlink(std::uint32_t source) noexcept {
        take_out(source);
        links_.remove(source);
    }

    // --- of an entity that goes
    // Out of the list it is in; the link itself stays.
    void take_out(std::uint32_t source) noexcept;
    void unlink_sources(std::uint32_t target) noexcept;
    // All of its sources wait to follow it.
    void doom_sources(std::uint32_t target) noexcept;

private:
    [[nodiscard]] LinkValue& edit_link(std::uint32_t source) noexcept {
        return links_.edit<LinkValue>(links_.find(source) - 1);
    }

    WorldCore& core_;
    SparseSet links_;
    SparseSet sources_;
};

}  // namespace ouro::detail
