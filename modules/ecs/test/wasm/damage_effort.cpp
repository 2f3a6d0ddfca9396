#include "damaged_world.hpp"

// There is no environment to ask.
namespace ouro::testing_support {

std::uint64_t damage_seed() {
    return kDamageSeed;
}

std::uint32_t damage_rounds(std::uint32_t usual) {
    return usual;
}

}  // namespace ouro::testing_support
