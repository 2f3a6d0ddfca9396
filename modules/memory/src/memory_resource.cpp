#include <ouro/memory/memory_resource.hpp>

#include <cstring>

namespace ouro {

Expected<MemoryBlock> move_to_new_block(MemoryResource& resource, MemoryBlock block, std::size_t new_size,
                                        std::size_t alignment) noexcept {
    const auto moved = resource.allocate(new_size, alignment);
    if (!moved || block.is_null()) return moved;
    std::memcpy(moved->data, block.data, block.size < new_size ? block.size : new_size);
    resource.deallocate(block, alignment);
    return moved;
}

}  // namespace ouro
