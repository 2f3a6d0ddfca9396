#include <ouro/os/file_output.hpp>

namespace ouro::os {

Expected<FileOutput> FileOutput::create(const char*) noexcept {
    return Status::not_supported;
}

FileOutput::FileOutput(FileOutput&&) noexcept = default;
FileOutput::~FileOutput() = default;

Expected<void> FileOutput::write(std::span<const std::byte>) noexcept {
    return Status::not_supported;
}

Expected<void> FileOutput::flush() noexcept {
    return Status::not_supported;
}

Expected<void> FileOutput::finish() noexcept {
    return Status::not_supported;
}

}  // namespace ouro::os
