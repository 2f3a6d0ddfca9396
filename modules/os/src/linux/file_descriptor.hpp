#pragma once

#include "system_calls.hpp"

#include <ouro/base/expected.hpp>

#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace ouro::os {

// An open file with an owner.
class FileDescriptor {
public:
    constexpr FileDescriptor() noexcept = default;
    explicit constexpr FileDescriptor(int descriptor) noexcept : descriptor_(descriptor) {}
    FileDescriptor(FileDescriptor&& other) noexcept : descriptor_(other.release()) {}
    FileDescriptor& operator=(FileDescriptor&&) = delete;
    ~FileDescriptor() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }

    [[nodiscard]] static Expected<FileDescriptor> open_for_reading(const char* path) noexcept {
        const int descriptor = attempt(OsCall::open_file, [&] { return ::open(path, O_RDONLY | O_CLOEXEC); });
        if (descriptor < 0) return status_of_error(errno);
        return FileDescriptor(descriptor);
    }

    [[nodiscard]] int get() const noexcept { return descriptor_; }
    [[nodiscard]] int release() noexcept { return std::exchange(descriptor_, -1); }

private:
    int descriptor_ = -1;
};

}  // namespace ouro::os
