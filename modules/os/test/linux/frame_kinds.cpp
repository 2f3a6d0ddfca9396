#include "frame_kinds.hpp"

#include <array>
#include <cstdlib>
#include <stdexcept>

// Compiled once for each way to build, which gives the start its name.
namespace ouro::os::testing_support {

void OURO_FRAME_CHAIN_START(FrameChain& chain);

namespace {

// Comes after each call, so that none becomes a jump.
void keep(void* memory = nullptr) {
    asm volatile("" : : "r"(memory) : "memory");
}

[[gnu::noinline]] void call_plainly(FrameChain& chain) {
    OURO_FRAME_CHAIN_START(chain);
    keep();
}

[[gnu::noinline]] void call_with_locals(FrameChain& chain) {
    std::array<char, 700> locals;
    keep(locals.data());
    OURO_FRAME_CHAIN_START(chain);
    keep(locals.data());
}

[[gnu::noinline]] void call_with_page(FrameChain& chain) {
    std::array<char, 9000> locals;
    keep(locals.data());
    OURO_FRAME_CHAIN_START(chain);
    keep(locals.data());
}

[[gnu::noinline]] void call_with_room(FrameChain& chain) {
    void* const room = __builtin_alloca(16 + chain.kinds.size() * 24 % 500);
    keep(room);
    OURO_FRAME_CHAIN_START(chain);
    keep(room);
}

[[gnu::noinline]] void call_with_aligned_locals(FrameChain& chain) {
    alignas(128) std::array<char, 256> locals;
    keep(locals.data());
    OURO_FRAME_CHAIN_START(chain);
    keep(locals.data());
}

[[gnu::noinline]] void call_with_aligned_locals_and_room(FrameChain& chain) {
    alignas(64) std::array<char, 64> locals;
    void* const room = __builtin_alloca(16 + chain.kinds.size() * 40 % 700);
    keep(locals.data());
    keep(room);
    OURO_FRAME_CHAIN_START(chain);
    keep(room);
    keep(locals.data());
}

// More than fit into registers.
[[gnu::noinline]] long add(long a, long b, long c, long d, long e, long f, long g, long h, long i,
                           FrameChain& chain) {
    alignas(64) std::array<long, 8> locals{a, c, e, g, i};
    keep(locals.data());
    OURO_FRAME_CHAIN_START(chain);
    keep(locals.data());
    return a + b + c + d + e + f + g + h + i;
}
[[gnu::noinline]] void call_with_many_arguments(FrameChain& chain) {
    const auto size = static_cast<long>(chain.kinds.size());
    if (add(1, size, 3, size, 5, 6, size, 8, 9, chain) != 32 + 3 * size) std::abort();
    keep();
}

// Enough numbers to need every register that a call leaves alone.
[[gnu::noinline]] void call_with_many_numbers(FrameChain& chain) {
    std::array<std::size_t, 7> numbers;
    std::size_t value = chain.kinds.size();
    for (std::size_t& number : numbers) {
        asm volatile("" : "+r"(value));
        number = ++value;
    }
    const auto [a, b, c, d, e, f, g] = numbers;
    OURO_FRAME_CHAIN_START(chain);
    asm volatile("" : : "r"(a), "r"(b), "r"(c), "r"(d), "r"(e), "r"(f), "r"(g));
}

struct Cleanup {
    ~Cleanup() { keep(this); }
};
[[gnu::noinline]] void call_with_handlers(FrameChain& chain) {
    const Cleanup cleanup;
    try {
        OURO_FRAME_CHAIN_START(chain);
    } catch (const std::runtime_error&) {
        std::abort();
    }
}

constexpr std::array<FrameChainStart, 9> kKinds{call_plainly,
                                                call_with_locals,
                                                call_with_page,
                                                call_with_room,
                                                call_with_aligned_locals,
                                                call_with_aligned_locals_and_room,
                                                call_with_many_arguments,
                                                call_with_many_numbers,
                                                call_with_handlers};

}  // namespace

[[gnu::noinline]] void OURO_FRAME_CHAIN_START(FrameChain& chain) {
    if (chain.kinds.empty()) {
        chain.last(chain.argument);
    } else {
        const std::uint8_t kind = chain.kinds.front();
        chain.kinds = chain.kinds.subspan(1);
        kKinds[kind % kKinds.size()](chain);
    }
    keep();
}

}  // namespace ouro::os::testing_support
