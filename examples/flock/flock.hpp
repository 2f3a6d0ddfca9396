#pragma once

#include <ouro/ecs/schedule.hpp>
#include <ouro/ecs/world.hpp>

#include <array>
#include <cstdint>
#include <vector>

// Birds that keep with their neighbours, on a square whose edges meet. Everything they are lies in the state
// image; what is sorted anew in each tick does not.
namespace flock {

struct Position {
    float x;
    float y;
};
struct Velocity {
    float x;
    float y;
};
// What a player would send: where the wind blows.
struct Wind {
    float x;
    float y;
};

inline constexpr float kWidth = 1024;

// Birds by the cell that they are in, copied side by side: neighbours are read in the order of cells, while
// the birds themselves change.
class Cells {
public:
    static constexpr std::uint32_t kAcross = 64;
    static constexpr float kCellWidth = kWidth / kAcross;

    struct Bird {
        Position position;
        Velocity velocity;
    };

    void sort(ouro::Query<const Position&, const Velocity&> birds);
    // Those that a bird sees, of the nine cells around it.
    template <class Visit>
    void each_neighbour(const Position& position, Visit&& visit) const;

private:
    static std::uint32_t across(float coordinate) {
        return static_cast<std::uint32_t>(coordinate / kCellWidth) % kAcross;
    }
    static std::uint32_t cell_of(const Position& position) {
        return across(position.y) * kAcross + across(position.x);
    }

    std::array<std::uint32_t, kAcross * kAcross + 1> begins_{};
    std::vector<Bird> birds_;
};

// Adds the systems of the flock. The cells outlive the schedule.
void add_systems(ouro::Schedule& schedule, Cells& cells);
// Birds at random places, and no wind.
[[nodiscard]] ouro::Status spawn_birds(ouro::World& world, std::uint32_t count);

}  // namespace flock
