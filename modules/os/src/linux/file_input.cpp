#include "file_descriptor.hpp"
#include "mappings.hpp"
#include "page_range.hpp"
#include "system_calls.hpp"

#include <ouro/os/file_input.hpp>

#include <limits>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ouro::os {
namespace {

Status status_of_open_error(int error) noexcept {
    switch (error) {
        case EISDIR:
        case ENOTDIR:
        case ENAMETOOLONG:
        case ELOOP:
        case ENXIO:
            return Status::bad_argument;
        default:
            return status_of_error(error);
    }
}

Expected<struct stat> ask_file(int descriptor) noexcept {
    struct stat found{};
    if (attempt(OsCall::query_file, [&] { return ::fstat(descriptor, &found); }) == 0) return found;
    return errno == EIO ? Status::io_error : status_of_error(errno);
}

constexpr auto kMostOffset = static_cast<std::uint64_t>(std::numeric_limits<off_t>::max());

}  // namespace

Expected<FileInput> FileInput::open(const char* path) noexcept {
    if (path == nullptr || *path == '\0') return Status::bad_argument;
    // A pipe without a writer must not make us wait before we can see that it is one.
    const int descriptor =
        attempt(OsCall::open_file, [&] { return ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); });
    if (descriptor < 0) return status_of_open_error(errno);
    FileInput file(descriptor);
    const auto found = ask_file(descriptor);
    if (!found) return found.status();
    if (!S_ISREG(found->st_mode)) return Status::bad_argument;
    return file;
}

FileInput::FileInput(FileInput&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

FileInput::~FileInput() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

Expected<std::uint64_t> FileInput::size() const noexcept {
    const auto found = ask_file(descriptor_);
    if (!found) return found.status();
    return static_cast<std::uint64_t>(found->st_size);
}

Expected<std::size_t> FileInput::read_at(std::uint64_t offset, std::span<std::byte> target) const noexcept {
    if (offset > kMostOffset || target.size() > kMostOffset - offset) return Status::size_overflow;
    std::size_t filled = 0;
    while (filled < target.size()) {
        const auto rest = target.subspan(filled);
        const auto place = static_cast<off_t>(offset + filled);
        const ssize_t count =
            attempt(OsCall::read_file, [&] { return ::pread(descriptor_, rest.data(), rest.size(), place); });
        if (count == 0) break;
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return Status::io_error;
        filled += static_cast<std::size_t>(count);
    }
    return filled;
}

Expected<void> FileInput::map_over(MemoryBlock pages, std::uint64_t offset) const noexcept {
    if (const Status range = check_pages(pages); range != Status::ok) return range;
    if (offset % page_size() != 0) return Status::bad_argument;
    const auto length = size();
    if (!length) return length.status();
    if (offset > *length || units_of<std::uint64_t>(*length - offset, page_size()) * page_size() < pages.size)
        return Status::out_of_range;
    constexpr int kFlags = MAP_PRIVATE | MAP_FIXED;
    const void* mapped = attempt(OsCall::map_memory, MAP_FAILED, [&] {
        return ::mmap(pages.data, pages.size, PROT_READ | PROT_WRITE, kFlags, descriptor_,
                      static_cast<off_t>(offset));
    });
    if (mapped != MAP_FAILED) return {};
    if (errno == ENOMEM) return explain_no_memory(pages);
    return errno == ENODEV ? Status::not_supported : status_of_error(errno);
}

}  // namespace ouro::os
