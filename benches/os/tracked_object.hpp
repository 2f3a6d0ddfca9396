#pragma once

#include "harness/must.hpp"

#include <ouro/os/kernel_tracker.hpp>
#include <ouro/os/memory_object.hpp>

namespace ouro::bench {

// A memory object, mapped and tracked by the kernel, all armed.
struct TrackedObject {
    // Populated: all pages are there. Otherwise only their addresses are.
    TrackedObject(std::size_t bytes, bool populated)
        : object(must(os::MemoryObject::create(bytes, "bench"), "memory object")),
          mapping(must(object.map({.bytes = bytes}), "map")),
          tracker(must(os::KernelTracker::create(), "kernel tracker")) {
        if (populated) must(os::prefault(block()), "prefault");
        must(tracker.add(block()), "track");
    }

    [[nodiscard]] MemoryBlock block() const noexcept { return mapping.block(); }
    void arm_all() { must(tracker.arm(block()), "arm"); }

    os::MemoryObject object;
    os::Mapping mapping;
    os::KernelTracker tracker;
};

}  // namespace ouro::bench
