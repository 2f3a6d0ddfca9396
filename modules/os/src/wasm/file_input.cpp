#include <ouro/os/file_input.hpp>

namespace ouro::os {

Expected<FileInput> FileInput::open(const char*) noexcept {
    return Status::not_supported;
}

FileInput::FileInput(FileInput&&) noexcept = default;
FileInput::~FileInput() = default;

Expected<std::uint64_t> FileInput::size() const noexcept {
    return Status::not_supported;
}

Expected<std::size_t> FileInput::read_at(std::uint64_t, std::span<std::byte>) const noexcept {
    return Status::not_supported;
}

Expected<void> FileInput::map_over(MemoryBlock, std::uint64_t) const noexcept {
    return Status::not_supported;
}

}  // namespace ouro::os
