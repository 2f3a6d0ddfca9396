#include <ouro/memory/pool_allocator.hpp>

namespace ouro {

template <ThreadSafety kSafety>
Expected<BasicPoolAllocator<kSafety>> BasicPoolAllocator<kSafety>::create(const Options& options) noexcept {
    auto core = PoolCore::reserve(options);
    if (!core) return core.status();
    return BasicPoolAllocator(*std::move(core), options.name);
}

template <ThreadSafety kSafety>
Expected<BasicPoolAllocator<kSafety>> BasicPoolAllocator<kSafety>::create_on(
    MemoryResource& upstream, const Options& options) noexcept {
    auto core = PoolCore::borrow(upstream, options);
    if (!core) return core.status();
    return BasicPoolAllocator(*std::move(core), options.name);
}

template <ThreadSafety kSafety>
Expected<MemoryBlock> BasicPoolAllocator<kSafety>::reallocate(MemoryBlock block, std::size_t new_size,
                                                              std::size_t alignment) noexcept {
    if (!core_.serves(new_size, alignment)) return core_.refuse(new_size, alignment);
    if (block.is_null()) return allocate_block();
    return MemoryBlock{block.data, core_.block_bytes()};
}

template <ThreadSafety kSafety>
Expected<MemoryBlock> BasicPoolAllocator<kSafety>::try_resize(MemoryBlock block, std::size_t new_size,
                                                              std::size_t alignment) noexcept {
    if (core_.serves(new_size, alignment)) return MemoryBlock{block.data, core_.block_bytes()};
    const Status asked = check_allocation(new_size, alignment);
    return asked != Status::ok ? asked : Status::capacity_exhausted;
}

template <ThreadSafety kSafety>
ResourceInfo BasicPoolAllocator<kSafety>::info() const noexcept {
    return {
        .name = name_, .thread_safety = kSafety, .frees_blocks = true, .size_classes = core_.size_classes()};
}

template class BasicPoolAllocator<ThreadSafety::single_thread>;
template class BasicPoolAllocator<ThreadSafety::free_from_any_thread>;

}  // namespace ouro
