#pragma once

#include <ouro/memory/block_registry.hpp>
#include <ouro/memory/detail/heap_core.hpp>

namespace ouro::detail {

// A heap's entry in the registry of blocks, kept up to date by every thread that makes the heap grow, or
// takes or gives back units: what it says is in use is so, to the unit, for readers of another process too.
struct HeapListing {
    // Before the core is made; the listing must stay where it is.
    void attach_to(HeapCore::Memory& memory) noexcept {
        memory.on_growth = update;
        memory.on_use = note_use;
        memory.listing = this;
    }

    static void update(void* listing) noexcept;
    static void note_use(void* listing) noexcept;

    // Null until there is one.
    const HeapCore* core = nullptr;
    // Empty: the heap is not listed.
    BlockRegistration registration;
};

}  // namespace ouro::detail
