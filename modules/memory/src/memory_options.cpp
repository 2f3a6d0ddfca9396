#include <ouro/memory/memory_options.hpp>

namespace ouro {

SmallObjectAllocator::Options small_object_options(const MemoryConfig& config) noexcept {
    SmallObjectAllocator::Options options;
    options.max_bytes = config.heap_max_bytes;
    options.purge_threshold_bytes = config.purge_threshold_bytes;
    options.largest_small_bytes = config.largest_small_bytes;
    options.huge_pages_from_bytes = config.heap_huge_pages_from_bytes;
    return options;
}

SystemAllocator::Options system_options(const MemoryConfig& config) noexcept {
    SystemAllocator::Options options;
    options.cache_bytes = config.system_cache_bytes;
    return options;
}

TaggedAllocator::Options tagged_options(const MemoryConfig& config) noexcept {
    TaggedAllocator::Options options;
    if (config.budget_bytes != 0) options.budget_bytes = config.budget_bytes;
    return options;
}

HugePageArena::Options huge_page_options(const MemoryConfig& config) noexcept {
    HugePageArena::Options options;
    switch (config.huge_pages) {
        case HugePagePolicy::off:
            options.pages = os::PageKind::normal;
            break;
        case HugePagePolicy::transparent:
            options.pages = os::PageKind::transparent;
            break;
        case HugePagePolicy::reserved:
            options.pages = os::PageKind::reserved;
            break;
    }
    return options;
}

SampledGuards::Options sampled_guards_options(const MemoryConfig& config) noexcept {
    SampledGuards::Options options;
    options.sample_every = config.guard_sampling;
    return options;
}

GuardOptions guard_options(const MemoryConfig& config) noexcept {
    GuardOptions options;
    options.sample_every = config.guard_sampling;
    options.check_unsampled = false;
    return options;
}

Expected<NumaPlacement> place_for_this_thread(const MemoryConfig& config, MemoryBlock memory) noexcept {
    if (config.numa == NumaPolicy::off) return NumaPlacement::left_to_system;
    const auto bound = os::bind_to_numa_node(memory, os::current_numa_node());
    if (!bound) return bound.status();
    return *bound == os::NumaOutcome::bound ? NumaPlacement::bound : NumaPlacement::single_node;
}

}  // namespace ouro
