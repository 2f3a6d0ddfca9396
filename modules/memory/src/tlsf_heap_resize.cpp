#include <ouro/memory/detail/tlsf_operations.hpp>

namespace ouro {

Expected<MemoryBlock> TlsfHeap::try_resize(MemoryBlock block, std::size_t new_size,
                                           std::size_t alignment) noexcept {
    return try_resize(kNoBarrier, block, new_size, alignment);
}

Expected<MemoryBlock> TlsfHeap::reallocate(MemoryBlock block, std::size_t new_size,
                                           std::size_t alignment) noexcept {
    return reallocate(kNoBarrier, block, new_size, alignment);
}

}  // namespace ouro
