#include <ouro/os/remap.hpp>

namespace ouro::os {

Expected<MemoryBlock> extend(MemoryBlock, std::size_t) noexcept {
    return Status::not_supported;
}

Expected<MemoryBlock> move_and_extend(MemoryBlock, std::size_t) noexcept {
    return Status::not_supported;
}

Expected<MemoryBlock> move_into(MemoryBlock, MemoryBlock) noexcept {
    return Status::not_supported;
}

Expected<MemoryBlock> move_pages_into(MemoryBlock, MemoryBlock) noexcept {
    return Status::not_supported;
}

}  // namespace ouro::os
