#include "file_descriptor.hpp"
#include "system_calls.hpp"

#include <ouro/os/file_output.hpp>
#include <ouro/os/process_memory.hpp>

#include <atomic>
#include <charconv>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ouro::os {
namespace {

Status status_of_file_error(int error) noexcept {
    switch (error) {
        case ENOSPC:
        case EDQUOT:
            return Status::io_error;
        case EROFS:
            return Status::permission_denied;
        case EISDIR:
        case ENOTDIR:
        case ENAMETOOLONG:
        case ELOOP:
            return Status::bad_argument;
        default:
            return status_of_error(error);
    }
}

// Replacing a device or a folder by a file is never meant.
bool is_replaceable(const char* path) noexcept {
    struct stat found{};
    return ::stat(path, &found) != 0 || S_ISREG(found.st_mode);
}

// Appends to a text that has room for it, and returns the new end.
char* append(char* end, const char* text) noexcept {
    const std::size_t bytes = std::strlen(text);
    std::memcpy(end, text, bytes + 1);
    return end + bytes;
}

char* append_number(char* end, std::uint64_t number) noexcept {
    constexpr std::size_t kMostDigits = 20;
    end = std::to_chars(end, end + kMostDigits, number).ptr;
    *end = '\0';
    return end;
}

// Of its own among the threads of this process, and among processes.
void name_part(char* name, const char* path) noexcept {
    static constinit std::atomic<std::uint32_t> number{0};
    char* end = append(name, path);
    end = append_number(append(end, ".part-"), process_id());
    append_number(append(end, "-"), number.fetch_add(1, std::memory_order_relaxed));
}

int open_new(const char* path) noexcept {
    constexpr mode_t kOwnerWritesAllRead = 0644;
    const auto open = [path] {
        return attempt(OsCall::create_file, [path] {
            return ::open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kOwnerWritesAllRead);
        });
    };
    const int descriptor = open();
    if (descriptor >= 0 || errno != EEXIST) return descriptor;
    // Left by a process of this number that ended in the middle.
    ::unlink(path);
    return open();
}

}  // namespace

Expected<FileOutput> FileOutput::create(const char* path) noexcept {
    if (path == nullptr) return Status::bad_argument;
    const std::size_t bytes = ::strnlen(path, kMaxPathBytes + 1);
    if (bytes == 0 || bytes > kMaxPathBytes || !is_replaceable(path)) return Status::bad_argument;
    FileOutput file;
    append(file.path_.data(), path);
    name_part(file.part_path_.data(), path);
    file.descriptor_ = open_new(file.part_path_.data());
    if (file.descriptor_ < 0) return status_of_file_error(errno);
    return file;
}

FileOutput::FileOutput(FileOutput&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      has_failed_(other.has_failed_),
      path_(other.path_),
      part_path_(other.part_path_) {}

FileOutput::~FileOutput() {
    if (descriptor_ < 0) return;
    ::close(descriptor_);
    ::unlink(part_path_.data());
}

Expected<void> FileOutput::write(std::span<const std::byte> bytes) noexcept {
    while (!bytes.empty()) {
        const ssize_t written =
            attempt(OsCall::write_file, [&] { return ::write(descriptor_, bytes.data(), bytes.size()); });
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) {
            has_failed_ = true;
            return Status::io_error;
        }
        bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return {};
}

Expected<void> FileOutput::flush() noexcept {
    for (;;) {
        const int outcome = attempt(OsCall::sync_file, [&] { return ::fdatasync(descriptor_); });
        // There is nothing behind some files that could be waited for.
        if (outcome == 0 || errno == EINVAL) return {};
        if (errno == EINTR) continue;
        has_failed_ = true;
        return Status::io_error;
    }
}

Expected<void> FileOutput::finish() noexcept {
    const FileDescriptor closes_at_end(std::exchange(descriptor_, -1));
    Status status = has_failed_ ? Status::io_error : Status::ok;
    if (status == Status::ok &&
        attempt(OsCall::rename_file, [&] { return ::rename(part_path_.data(), path_.data()); }) != 0)
        status = status_of_file_error(errno);
    if (status == Status::ok) return {};
    ::unlink(part_path_.data());
    return status;
}

}  // namespace ouro::os
