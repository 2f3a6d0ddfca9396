#include "damaged_world.hpp"

#include <cstdlib>

namespace ouro::testing_support {

std::uint64_t damage_seed() {
    const char* const given = std::getenv("OURO_TEST_SEED");
    return given == nullptr ? kDamageSeed : std::strtoull(given, nullptr, 0);
}

std::uint32_t damage_rounds(std::uint32_t usual) {
    return std::getenv("OURO_TEST_LONG") == nullptr ? usual : usual * 50;
}

}  // namespace ouro::testing_support
