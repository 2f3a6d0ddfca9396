// Random numbers and elementary functions that give the same bits on every compiler, optimisation level and
// platform: the hash printed here is the same everywhere, so two machines can check that they simulate the
// same world.
#include <ouro/base/hash.hpp>
#include <ouro/base/math.hpp>
#include <ouro/base/random.hpp>

#include <cstdio>

struct Ship {
    double x = 0;
    double y = 0;
    double heading = 0;
};

int main() {
    Ship ship;
    ouro::Random random(2024);
    for (int tick = 0; tick < 10'000; ++tick) {
        ship.heading = ouro::math::wrap_angle(ship.heading + (random.unit_double() - 0.5) * 0.2);
        ship.x += ouro::math::cos(ship.heading);
        ship.y += ouro::math::sin(ship.heading);
    }
    const std::uint64_t hash = ouro::hash_bytes(&ship, sizeof(ship));
    std::printf("after 10,000 ticks: (%.3f, %.3f), state hash %016llx\n", ship.x, ship.y,
                static_cast<unsigned long long>(hash));
    return hash == 0xefb369adc9dc975b ? 0 : 1;
}
