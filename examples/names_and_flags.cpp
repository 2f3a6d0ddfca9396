// Names become numbers, states become bits: comparing, storing and combining them costs an instruction.
#include <ouro/memory/collections/bit_flags.hpp>
#include <ouro/memory/collections/bit_set.hpp>
#include <ouro/memory/collections/string_interner.hpp>
#include <ouro/memory/frame_allocator.hpp>

#include <cstdint>
#include <cstdio>

enum class Trait : std::uint8_t { hungry, asleep, ill };
using Traits = ouro::BitFlags<Trait>;

int main() {
    auto memory = ouro::FrameAllocator::create({.max_bytes = std::size_t{1} << 20});
    if (!memory) return 1;

    ouro::StringInterner names(*memory);
    const auto wolf = names.intern("wolf");
    const auto deer = names.intern("deer");
    const auto again = names.intern("wolf");
    if (!wolf || !deer || !again) return 1;
    std::printf("'%s' is number %u both times\n", names.text(*again).data(), static_cast<unsigned>(*again));

    // A creature a bit: who is hungry, who is awake.
    auto hungry = ouro::BitSet::create(*memory, 1000);
    auto awake = ouro::BitSet::create(*memory, 1000);
    if (!hungry || !awake) return 1;
    for (std::size_t creature = 0; creature < 1000; ++creature) {
        Traits traits;
        traits.assign(Trait::hungry, creature % 3 == 0);
        traits.assign(Trait::asleep, creature % 5 == 0);
        hungry->assign(creature, traits.has(Trait::hungry));
        awake->assign(creature, !traits.has(Trait::asleep));
    }
    *hungry &= *awake;
    std::size_t first_three[3] = {};
    std::size_t found = 0;
    for (const std::size_t creature : *hungry) {
        if (found == 3) break;
        first_three[found++] = creature;
    }
    std::printf("%zu hunt, first %zu, %zu, %zu\n", hungry->count(), first_three[0], first_three[1],
                first_three[2]);
    return *wolf == *again && *wolf != *deer && hungry->count() == 267 && first_three[2] == 9 ? 0 : 1;
}
