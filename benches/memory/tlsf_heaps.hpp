#pragma once

#include "memory/tlsf_peer.hpp"

#include <ouro/memory/tlsf_allocator.hpp>

#include <cstdlib>

// The candidates of the TLSF cases behind one form: allocate(size), null when full, and free(block, size).
namespace ouro::bench {

struct OurTlsf {
    TlsfAllocator& heap;

    void* allocate(std::size_t size) const { return heap.allocate(size, 16).value_or({}).data; }
    void free(void* block, std::size_t size) const {
        heap.deallocate({static_cast<std::byte*>(block), size}, 16);
    }
};

struct ClassicHeap {
    const TlsfPeer* functions;
    void* heap;

    void* allocate(std::size_t size) const { return functions->allocate(heap, size); }
    void free(void* block, std::size_t) const { functions->free(heap, block); }
};

struct GlibcHeap {
    void* allocate(std::size_t size) const { return std::malloc(size); }
    void free(void* block, std::size_t) const { std::free(block); }
};

}  // namespace ouro::bench
