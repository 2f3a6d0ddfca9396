#pragma once

#include <cstddef>

// A classic TLSF as a peer; the file behind this is chosen by CMake from what --peers has.
namespace ouro::bench {

// Its own functions, so that a call costs it what it costs its users.
struct TlsfPeer {
    void* (*create_with_pool)(void* memory, std::size_t bytes);
    void* (*allocate)(void* heap, std::size_t size);
    void (*free)(void* heap, void* block);
    std::size_t (*block_size)(void* block);
    // Of one block, and of the heap itself.
    std::size_t (*block_overhead)();
    std::size_t (*control_size)();
};

// Null when this program was built without one.
[[nodiscard]] const TlsfPeer* tlsf_peer();

}  // namespace ouro::bench
