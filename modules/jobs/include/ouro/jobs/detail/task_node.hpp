#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace ouro::detail {

// Of a task's function.
using TaskEntry = void (*)(void* function, unsigned participant) noexcept;

inline constexpr std::uint32_t kNoTask = ~std::uint32_t{0};

// A task as those who run it see it: a cache line, with small functions in it. The numbers that threads
// change at once are plain here and used through std::atomic_ref, so that an array of tasks can grow.
struct alignas(64) TaskNode {
    static constexpr std::size_t kFunctionBytes = 32;
    static constexpr std::size_t kFunctionAlignment = 8;

    TaskEntry entry = nullptr;
    // The function itself, or the address of a larger one.
    alignas(kFunctionAlignment) std::array<std::byte, kFunctionBytes> function{};
    std::uint32_t first_successor = 0;
    std::uint32_t successor_count = 0;
    std::uint32_t predecessor_count = 0;
    // Predecessors that have not ended. Whoever takes it to zero sets it back for the next run.
    alignas(4) std::uint32_t awaited = 0;
    // Links of a TaskStack.
    std::uint32_t next = kNoTask;
    alignas(4) std::uint32_t next_batch = kNoTask;
};

// A graph that is ready to be run. All numbers are those of tasks.
struct TaskPlan {
    std::span<TaskNode> tasks;
    // Of one task after another, the one to begin first at the end.
    std::span<const std::uint32_t> successors;
    // Tasks without predecessors, the one to begin first in front.
    std::span<const std::uint32_t> roots;
    // All tasks, in the order in which one thread alone runs them.
    std::span<const std::uint32_t> serial_order;
};

}  // namespace ouro::detail
