#pragma once

#include <ouro/memory/detail/guard_core.hpp>
#include <ouro/memory/huge_page_arena.hpp>
#include <ouro/memory/memory_config.hpp>
#include <ouro/memory/sampled_guards.hpp>
#include <ouro/memory/small_object_allocator.hpp>
#include <ouro/memory/system_allocator.hpp>
#include <ouro/memory/tagged_allocator.hpp>
#include <ouro/os/numa.hpp>

#include <cstdint>

// What a configuration says to each strategy that it concerns: its options, with everything that the
// configuration knows nothing of as it is by default.
//
//     MemoryConfig config;
//     read_config_from_environment(config);
//     auto heap = SmallObjectAllocator::create(small_object_options(config));
namespace ouro {

[[nodiscard]] SmallObjectAllocator::Options small_object_options(const MemoryConfig& config) noexcept;
[[nodiscard]] SystemAllocator::Options system_options(const MemoryConfig& config) noexcept;
// The budget is for the topmost tag, on which all others stand.
[[nodiscard]] TaggedAllocator::Options tagged_options(const MemoryConfig& config) noexcept;
[[nodiscard]] HugePageArena::Options huge_page_options(const MemoryConfig& config) noexcept;
[[nodiscard]] SampledGuards::Options sampled_guards_options(const MemoryConfig& config) noexcept;
// For tier hardened: blocks that are not sampled are handed on as they are.
[[nodiscard]] GuardOptions guard_options(const MemoryConfig& config) noexcept;

enum class NumaPlacement : std::uint8_t {
    // The policy is to leave it to the system.
    left_to_system,
    bound,
    // The machine has one node; nothing was done and nothing is lost.
    single_node,
};

// Does what the policy says with memory that the calling thread is about to use. Fails as
// os::bind_to_numa_node.
Expected<NumaPlacement> place_for_this_thread(const MemoryConfig& config, MemoryBlock memory) noexcept;

}  // namespace ouro
