#pragma once

#include "ecs/ecs_components.hpp"
#include "harness/must.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace ouro::bench {

// Which entities a world is filled with before anything is measured.
enum class Population : unsigned char {
    pairs,           // Position and Velocity
    quads,           // Position, Velocity, Scale, Vitality
    ten_kinds,       // Position, Velocity, Scale and one of ten traits: ten archetypes, taking turns
    six_trait_sets,  // Position, Velocity and each subset of six traits: 64 archetypes, taking turns
    all_trait_sets,  // Position, Velocity and each subset of eight traits: 256 archetypes, taking turns
};

// The traits of an entity in a population with Position and Velocity at least.
[[nodiscard]] constexpr unsigned trait_bits(Population population, std::uint32_t entity) noexcept {
    if (population == Population::ten_kinds) return 1U << (entity % kTraits);
    if (population == Population::six_trait_sets) return entity % 64;
    return population == Population::all_trait_sets ? entity % 256 : 0;
}
[[nodiscard]] constexpr bool has_scale(Population population) noexcept {
    return population == Population::quads || population == Population::ten_kinds;
}

// How a component comes and goes.
enum class Change : unsigned char { moved, sparse, switched };

// What not everybody has.
enum class Feature : unsigned char {
    basics,  // this, everybody
    bulk_creation,
    destruction,
    bulk_destruction,
    moved,
    sparse,
    switched,
    change_detection,
    two_threads,
    deferred_changes,
    deferred_spawns,
    save,
    restore
};

// A world of one candidate. Each function does a whole loop in the way its library recommends, so that the
// call through this interface costs nothing beside it. Entities keep the numbers in which they were made.
class EcsWorld {
public:
    EcsWorld() = default;
    EcsWorld(const EcsWorld&) = delete;
    EcsWorld& operator=(const EcsWorld&) = delete;
    virtual ~EcsWorld() = default;

    // Not timed. Requires: empty.
    virtual void populate(Population population, const EntityRows& rows) = 0;
    // Not timed: all positions to zero.
    virtual void rewind() = 0;
    // Not timed: the sum of sum_of() over all entities.
    [[nodiscard]] virtual std::uint64_t checksum() = 0;

    // Entities with Position and Velocity, in a world that is empty.
    virtual void create_each(const EntityRows& rows) = 0;
    // The same at once; with all four components where `four`.
    virtual void create_bulk(const EntityRows& rows, bool four) = 0;
    // In the order of their making.
    virtual void destroy_each() = 0;
    virtual void destroy_bulk() = 0;

    // move() on all, times over; move_scaled() likewise.
    virtual void integrate(unsigned times) = 0;
    virtual void integrate_scaled(unsigned times) = 0;
    virtual void integrate_on_two_threads(unsigned times) = 0;

    // The sum of sum_of() of these entities' positions, each found by its id.
    [[nodiscard]] virtual std::uint64_t get(std::span<const std::uint32_t> order) = 0;
    // The same by whatever there is for entities that are known all at once.
    [[nodiscard]] virtual std::uint64_t get_list(std::span<const std::uint32_t> order) { return get(order); }

    // One by one, to and from all entities.
    virtual void add(Change change) = 0;
    virtual void remove(Change change) = 0;
    // Not timed: all get the component that is switched, off.
    virtual void prepare_switch() {}
    // Not timed: how many have it.
    [[nodiscard]] virtual std::uint64_t count_with(Change change) = 0;

    // Writes Position{1, 1} to these, so that it is noticed.
    virtual void touch(std::span<const std::uint32_t> entities) = 0;
    // The sum of x of what has changed since the last call of settle(). What has not is zero, so that who
    // visits more finds the same sum.
    [[nodiscard]] virtual std::uint64_t sum_changed() = 0;
    // Not timed: from here on nothing has changed.
    virtual void settle() = 0;

    // Recorded for all entities while nothing may change, and then done.
    virtual void add_deferred() = 0;
    virtual void destroy_deferred() = 0;
    // Into a world that is empty: entities with Position and Velocity.
    virtual void spawn_deferred(const EntityRows& rows) = 0;

    // Not timed: what it needs to be able to save.
    virtual void prepare_save() {}
    // Not timed: all four components of all entities count as written, for those who save only what was.
    virtual void write_all() {}
    virtual void save() = 0;
    // Not timed: all that restore() brings back is spoilt.
    virtual void spoil() = 0;
    virtual void restore() = 0;
};

struct EcsCandidate {
    std::string name;
    // Empty when this program was built without it.
    std::string version;
    // For up to so many entities.
    std::unique_ptr<EcsWorld> (*make)(std::uint32_t capacity) = nullptr;
    std::vector<Feature> lacks = {};

    [[nodiscard]] bool has(Feature feature) const noexcept {
        for (const Feature lacking : lacks)
            if (lacking == feature) return false;
        return true;
    }
};

// For functions behind a feature that a candidate lacks: nobody calls them.
[[noreturn]] inline void lacking(const char* what) {
    give_up(what, "this library has none");
}

}  // namespace ouro::bench
