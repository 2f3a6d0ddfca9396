#include "file_descriptor.hpp"
#include "mappings.hpp"
#include "page_range.hpp"
#include "process_file.hpp"
#include "system_calls.hpp"

#include <ouro/os/memory_object.hpp>

#include <limits>
#include <memory>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ouro::os {
namespace {

Status resize(int descriptor, std::size_t bytes) noexcept {
    if (bytes > static_cast<std::size_t>(std::numeric_limits<off_t>::max())) return Status::size_overflow;
    const int result =
        attempt(OsCall::resize_object, [&] { return ::ftruncate(descriptor, static_cast<off_t>(bytes)); });
    if (result == 0) return Status::ok;
    return errno == EINVAL ? Status::size_overflow : status_of_error(errno);
}

Status check_map_request(const MapRequest& request, std::size_t object_bytes) noexcept {
    if (request.bytes == 0) return Status::zero_size;
    if (!is_aligned(request.offset, page_size()) || !is_aligned(request.bytes, page_size()))
        return Status::bad_address;
    if (request.offset > object_bytes || request.bytes > object_bytes - request.offset)
        return Status::out_of_range;
    if (request.address != nullptr && !is_aligned(request.address, page_size())) return Status::bad_address;
    if (request.within.is_null()) return Status::ok;
    if (request.address != nullptr || request.within.size != request.bytes) return Status::bad_argument;
    return check_pages(request.within);
}

// The size of what the descriptor stands for, once it is known to stay mapped whole.
Expected<std::size_t> size_of_object(int descriptor) noexcept {
    const int seals = attempt(OsCall::query_file, [&] { return ::fcntl(descriptor, F_GET_SEALS); });
    if (seals < 0) return errno == EINVAL ? Status::wrong_format : status_of_error(errno);
    if ((seals & F_SEAL_SHRINK) == 0) return Status::wrong_format;
    struct stat found{};
    if (attempt(OsCall::query_file, [&] { return ::fstat(descriptor, &found); }) != 0)
        return status_of_error(errno);
    if (found.st_size == 0) return Status::zero_size;
    return checked_align_up(static_cast<std::size_t>(found.st_size), page_size());
}

}  // namespace

Mapping::Mapping(Mapping&& other) noexcept
    : block_(std::exchange(other.block_, {})),
      within_reservation_(std::exchange(other.within_reservation_, false)) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
    if (this != &other) {
        std::destroy_at(this);
        std::construct_at(this, std::move(other));
    }
    return *this;
}

Mapping::~Mapping() {
    if (block_.is_null()) return;
    const auto end = [this] { return within_reservation_ ? make_reserved(block_) : unmap(block_); };
    // The kernel may be short of memory for a moment; a mapping left behind would never be noticed.
    [[maybe_unused]] const bool ended = end() == Status::ok || end() == Status::ok;
    OURO_DEBUG_ASSERT(ended, "an owned mapping could not be unmapped");
}

Expected<MemoryObject> MemoryObject::create(std::size_t bytes, const char* name) noexcept {
    if (bytes == 0) return Status::zero_size;
    const auto rounded = checked_align_up(bytes, page_size());
    if (!rounded) return rounded.status();
    FileDescriptor file(attempt(OsCall::create_memory_object,
                                [&] { return ::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING); }));
    if (file.get() < 0) return errno == EINVAL ? Status::bad_argument : status_of_error(errno);
    const Status resized = resize(file.get(), *rounded);
    if (resized != Status::ok) return resized;
    if (attempt(OsCall::seal_object, [&] { return ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK); }) != 0) {
        return status_of_error(errno);
    }
    return MemoryObject(file.release(), *rounded);
}

Expected<MemoryObject> MemoryObject::open(int descriptor) noexcept {
    FileDescriptor own(attempt(OsCall::open_file, [&] { return ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0); }));
    if (own.get() < 0) return errno == EBADF ? Status::bad_argument : status_of_error(errno);
    const auto bytes = size_of_object(own.get());
    if (!bytes) return bytes.status();
    return MemoryObject(own.release(), *bytes);
}

Expected<MemoryObject> MemoryObject::open_of(std::uint32_t process, int descriptor) noexcept {
    if (descriptor < 0) return Status::bad_argument;
    const ProcessFile file(process, "fd/", static_cast<std::uint32_t>(descriptor));
    // What is behind the number may be anything: waiting for a pipe's writer would be one of its effects.
    constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    FileDescriptor own(attempt(OsCall::open_file, [&] { return ::open(file.path(), kFlags); }));
    if (own.get() < 0) {
        const bool is_other_kind = errno == ENXIO || errno == ENODEV;
        return is_other_kind ? Status::wrong_format : status_of_error(errno);
    }
    const auto bytes = size_of_object(own.get());
    if (!bytes) return bytes.status();
    return MemoryObject(own.release(), *bytes);
}

MemoryObject::MemoryObject(MemoryObject&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), size_(std::exchange(other.size_, 0)) {}

MemoryObject& MemoryObject::operator=(MemoryObject&& other) noexcept {
    if (this != &other) {
        std::destroy_at(this);
        std::construct_at(this, std::move(other));
    }
    return *this;
}

MemoryObject::~MemoryObject() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

Expected<Mapping> MemoryObject::map(const MapRequest& request) const noexcept {
    const Status checked = check_map_request(request, size_);
    if (checked != Status::ok) return checked;
    void* address = request.address;
    int flags = MAP_SHARED;
    if (!request.within.is_null()) {
        if (!is_mapped(request.within)) return Status::not_mapped;
        address = request.within.data;
        flags |= MAP_FIXED;
    } else if (address != nullptr) {
        flags |= MAP_FIXED_NOREPLACE;
    }
    void* result = attempt(OsCall::map_memory, MAP_FAILED, [&] {
        return ::mmap(address, request.bytes, native_protection(request.protection), flags, descriptor_,
                      static_cast<off_t>(request.offset));
    });
    if (result == MAP_FAILED) return errno == ENOMEM ? explain_no_addresses() : status_of_error(errno);
    Mapping mapping(MemoryBlock{static_cast<std::byte*>(result), request.bytes}, !request.within.is_null());
    if (address != nullptr && result != address) return Status::address_in_use;
    return mapping;
}

Expected<void> MemoryObject::grow(std::size_t bytes) noexcept {
    const auto rounded = checked_align_up(bytes, page_size());
    if (!rounded) return rounded.status();
    if (*rounded <= size_) return {};
    const Status resized = resize(descriptor_, *rounded);
    if (resized == Status::ok) size_ = *rounded;
    return resized;
}

Expected<void> MemoryObject::discard(std::size_t offset, std::size_t bytes) noexcept {
    if (bytes == 0) return Status::zero_size;
    if (!is_aligned(offset, page_size()) || !is_aligned(bytes, page_size())) return Status::bad_address;
    if (offset > size_ || bytes > size_ - offset) return Status::out_of_range;
    const int result = attempt(OsCall::discard_object, [&] {
        return ::fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                           static_cast<off_t>(offset), static_cast<off_t>(bytes));
    });
    return result == 0 ? Status::ok : status_of_error(errno);
}

}  // namespace ouro::os
