#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

// Functions with all kinds of frames, built in several ways: each calls the next of a chain, the last one
// whoever looks.
namespace ouro::os::testing_support {

struct FrameChain {
    // Which function comes next; each takes its own from the front. Of any value.
    std::span<const std::uint8_t> kinds;
    void (*last)(void* argument) = nullptr;
    void* argument = nullptr;
};

using FrameChainStart = void (*)(FrameChain& chain);

// Without optimization, with frame pointers; optimized, without them; optimized, with them.
void go_on_unoptimized(FrameChain& chain);
void go_on_optimized(FrameChain& chain);
void go_on_with_frame_pointers(FrameChain& chain);

}  // namespace ouro::os::testing_support
