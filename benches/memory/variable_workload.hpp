#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ouro::bench {

// A recorded sequence of allocations and frees of variable sizes: log-uniform over a window that slides from
// small to large and back, together 256 B to 64 KiB, while the live bytes swing between 84 and 100 % of a
// limit. The same for every candidate.
struct VariableWorkload {
    struct Step {
        // Zero: the block in the slot is freed.
        std::uint32_t size;
        std::uint32_t slot;
    };

    std::vector<Step> steps;
    std::uint32_t slots = 0;
    std::uint64_t peak_live_bytes = 0;

    // `period_steps`: how long the window takes there and back.
    [[nodiscard]] static VariableWorkload record(std::uint64_t seed, std::uint64_t steps,
                                                 std::uint64_t period_steps, std::uint64_t limit_bytes);
};

// Replays it on a heap with allocate(size), null when full, and free(block, size). Each block is touched
// once. Returns how many steps were done: fewer than all when the heap was full.
template <class Heap>
std::size_t replay(const VariableWorkload& workload, Heap& heap, std::vector<void*>& blocks,
                   std::vector<std::uint32_t>& sizes) {
    blocks.assign(workload.slots, nullptr);
    sizes.assign(workload.slots, 0);
    std::size_t done = 0;
    for (const VariableWorkload::Step step : workload.steps) {
        if (step.size != 0) {
            void* block = heap.allocate(step.size);
            if (block == nullptr) return done;
            *static_cast<volatile unsigned char*>(block) = 1;
            blocks[step.slot] = block;
            sizes[step.slot] = step.size;
        } else {
            heap.free(blocks[step.slot], sizes[step.slot]);
            blocks[step.slot] = nullptr;
        }
        ++done;
    }
    return done;
}

}  // namespace ouro::bench
