#include <ouro/os/other_process.hpp>

namespace ouro::os {

Expected<void> visit_mapping_lines(std::uint32_t, MappingVisitor, void*) noexcept {
    return Status::not_supported;
}

Expected<void> visit_used_pages(std::uint32_t, std::uint64_t, std::size_t, PageRunVisitor, void*) noexcept {
    return Status::not_supported;
}

Expected<void> read_process_memory(std::uint32_t, std::uint64_t, std::span<std::byte>) noexcept {
    return Status::not_supported;
}

}  // namespace ouro::os
