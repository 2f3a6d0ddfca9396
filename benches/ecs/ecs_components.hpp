#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

// What the entities of all candidates are made of: plain, eight bytes each, the same types for everybody.
namespace ouro::bench {

struct Position {
    float x, y;
};
struct Velocity {
    float x, y;
};
struct Scale {
    float x, y;
};
struct Vitality {
    std::uint32_t health, armour;
};

// What makes archetypes differ.
struct Trait0 {
    std::uint32_t level, since;
};
struct Trait1 {
    std::uint32_t level, since;
};
struct Trait2 {
    std::uint32_t level, since;
};
struct Trait3 {
    std::uint32_t level, since;
};
struct Trait4 {
    std::uint32_t level, since;
};
struct Trait5 {
    std::uint32_t level, since;
};
struct Trait6 {
    std::uint32_t level, since;
};
struct Trait7 {
    std::uint32_t level, since;
};
struct Trait8 {
    std::uint32_t level, since;
};
struct Trait9 {
    std::uint32_t level, since;
};
using Traits = std::tuple<Trait0, Trait1, Trait2, Trait3, Trait4, Trait5, Trait6, Trait7, Trait8, Trait9>;
inline constexpr unsigned kTraits = std::tuple_size_v<Traits>;

// Calls visit(trait) with an empty value of each trait whose bit is set.
template <class Visit>
void for_each_trait(unsigned bits, Visit&& visit) {
    unsigned bit = 1;
    const auto look = [&](const auto& trait) {
        if ((bits & bit) != 0) visit(trait);
        bit <<= 1;
    };
    std::apply([&](const auto&... traits) { (look(traits), ...); }, Traits{});
}

// Added and removed: once as a column like any other, once for data that comes and goes, once as a switch.
struct Poison {
    std::uint32_t strength, until;
};
struct VolatilePoison {
    std::uint32_t strength, until;
};
struct SwitchedPoison {
    std::uint32_t strength, until;
};

// The components by which entities are made, one row an entity. All values are small integers, so that sums
// of them are exact in any order.
struct EntityRows {
    std::vector<Position> positions;
    std::vector<Velocity> velocities;
    std::vector<Scale> scales;
    std::vector<Vitality> vitalities;

    explicit EntityRows(std::uint32_t count)
        : positions(count), velocities(count), scales(count), vitalities(count) {
        for (std::uint32_t i = 0; i < count; ++i) {
            positions[i] = {static_cast<float>(i % 1024), static_cast<float>(i % 509)};
            velocities[i] = {static_cast<float>(i % 7), static_cast<float>(i % 5)};
            scales[i] = {static_cast<float>(i % 3), static_cast<float>(i % 4)};
            vitalities[i] = {i, i % 100};
        }
    }
    [[nodiscard]] std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(positions.size()); }
};

// The loops' bodies, the same for all.
inline void move(Position& position, const Velocity& velocity) noexcept {
    position.x += velocity.x;
    position.y += velocity.y;
}
inline void move_scaled(Position& position, const Velocity& velocity, const Scale& scale) noexcept {
    position.x += velocity.x * scale.x;
    position.y += velocity.y * scale.y;
}
// A checksum of one; the sum over all does not depend on their order.
[[nodiscard]] inline std::uint64_t sum_of(const Position& position) noexcept {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(position.x)) +
           1'000'003 * static_cast<std::uint64_t>(static_cast<std::int64_t>(position.y)) + 17;
}

}  // namespace ouro::bench
