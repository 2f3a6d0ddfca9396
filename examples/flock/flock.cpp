#include "flock.hpp"

#include <ouro/base/math.hpp>
#include <ouro/base/random.hpp>

namespace flock {
namespace {

using ouro::JobPool;
using ouro::Query;
using ouro::Res;

constexpr std::uint32_t kMostNeighbours = 24;
constexpr float kTooNear = 4;
constexpr float kSlowest = 0.5F;
constexpr float kFastest = 2;

// The shorter way from one to the other, over an edge if need be.
float toward(float from, float to) {
    const float straight = to - from;
    if (straight > kWidth / 2) return straight - kWidth;
    return straight < -kWidth / 2 ? straight + kWidth : straight;
}

float around(float coordinate) {
    if (coordinate >= kWidth) return coordinate - kWidth;
    return coordinate < 0 ? coordinate + kWidth : coordinate;
}

// Toward the middle of its neighbours, in their direction, and away from those that are too near.
Velocity steered(const Cells& cells, const Position& position, const Velocity& velocity, const Wind& wind) {
    Velocity middle{}, direction{}, away{};
    float seen = 0;
    cells.each_neighbour(position, [&](const Cells::Bird& bird) {
        const float x = toward(position.x, bird.position.x);
        const float y = toward(position.y, bird.position.y);
        const float distance = x * x + y * y;
        if (distance == 0 || distance > Cells::kCellWidth * Cells::kCellWidth) return false;
        if (distance < kTooNear * kTooNear) away = {away.x - x, away.y - y};
        middle = {middle.x + x, middle.y + y};
        direction = {direction.x + bird.velocity.x, direction.y + bird.velocity.y};
        seen += 1;
        return seen == kMostNeighbours;
    });
    Velocity wanted{velocity.x + wind.x, velocity.y + wind.y};
    if (seen > 0) {
        wanted.x += middle.x / seen * 0.004F + (direction.x / seen - velocity.x) * 0.08F + away.x * 0.02F;
        wanted.y += middle.y / seen * 0.004F + (direction.y / seen - velocity.y) * 0.08F + away.y * 0.02F;
    }
    const float speed = ouro::math::sqrt(wanted.x * wanted.x + wanted.y * wanted.y);
    if (speed == 0) return {kSlowest, 0};
    const float kept = speed < kSlowest ? kSlowest : speed > kFastest ? kFastest : speed;
    return {wanted.x / speed * kept, wanted.y / speed * kept};
}

void fly(JobPool& pool, Query<Position&, const Velocity&> birds) {
    birds.parallel_each(pool, [](Position& position, const Velocity& velocity) {
        position = {around(position.x + velocity.x), around(position.y + velocity.y)};
    });
}

}  // namespace

void Cells::sort(Query<const Position&, const Velocity&> birds) {
    begins_.fill(0);
    std::uint32_t count = 0;
    birds.each([&](const Position& position, const Velocity&) {
        ++begins_[cell_of(position) + 1];
        ++count;
    });
    for (std::size_t cell = 1; cell < begins_.size(); ++cell)
        begins_[cell] += begins_[cell - 1];
    birds_.resize(count);
    std::array<std::uint32_t, kAcross * kAcross> next{};
    birds.each([&](const Position& position, const Velocity& velocity) {
        const std::uint32_t cell = cell_of(position);
        birds_[begins_[cell] + next[cell]++] = {position, velocity};
    });
}

template <class Visit>
void Cells::each_neighbour(const Position& position, Visit&& visit) const {
    const std::uint32_t x = across(position.x) + kAcross - 1;
    const std::uint32_t y = across(position.y) + kAcross - 1;
    for (std::uint32_t down = 0; down < 3; ++down) {
        for (std::uint32_t right = 0; right < 3; ++right) {
            const std::uint32_t cell = (y + down) % kAcross * kAcross + (x + right) % kAcross;
            for (std::uint32_t at = begins_[cell]; at != begins_[cell + 1]; ++at)
                if (visit(birds_[at])) return;
        }
    }
}

void add_systems(ouro::Schedule& schedule, Cells& cells) {
    schedule.add("sort", [&cells](Query<const Position&, const Velocity&> birds) { cells.sort(birds); });
    schedule.stage("move");
    schedule.add("steer",
                 [&cells](JobPool& pool, Query<const Position&, Velocity&> birds, Res<const Wind> wind) {
                     const Wind now = *wind;
                     birds.parallel_each(pool, [&cells, now](const Position& position, Velocity& velocity) {
                         velocity = steered(cells, position, velocity, now);
                     });
                 });
    schedule.add("fly", fly);
}

ouro::Status spawn_birds(ouro::World& world, std::uint32_t count) {
    ouro::Random random(20'000);
    const auto spawned =
        world.spawn_many<Position, Velocity>(count, [&](Position& position, Velocity& velocity) {
            position = {random.unit_float() * kWidth, random.unit_float() * kWidth};
            velocity = {random.unit_float() * 2 - 1, random.unit_float() * 2 - 1};
        });
    if (!spawned) return spawned.status();
    // It is zero at first.
    return world.edit_resource<Wind>() != nullptr ? ouro::Status::ok : ouro::Status::capacity_exhausted;
}

}  // namespace flock
