#include "file_descriptor.hpp"
#include "kernel_abi.hpp"
#include "mappings.hpp"
#include "page_range.hpp"
#include "system_calls.hpp"
#include "userfaultfd.hpp"

#include <ouro/os/kernel_tracker.hpp>

#include <cstddef>
#include <memory>
#include <utility>

#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ouro::os {
namespace {

static_assert(sizeof(WrittenRange) == 24 && offsetof(WrittenRange, end) == 8,
              "the kernel's struct page_region");

uffdio_range kernel_range(MemoryBlock block) noexcept {
    return {reinterpret_cast<std::uintptr_t>(block.data), block.size};
}

template <class Argument>
int control(int descriptor, unsigned long request, Argument& argument) noexcept {
    return attempt(OsCall::userfaultfd_control, [&] { return ::ioctl(descriptor, request, &argument); });
}

Status open_status(int error) noexcept {
    // EINVAL is a kernel that does not know a flag or feature.
    return error == EINVAL ? Status::not_supported : status_of_error(error);
}

}  // namespace

Expected<FileDescriptor> open_userfaultfd(std::uint64_t features) noexcept {
    FileDescriptor file(attempt(OsCall::open_userfaultfd, [] {
        return static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | abi::kUserModeOnly));
    }));
    if (file.get() < 0) return open_status(errno);
    uffdio_api api{.api = UFFD_API, .features = features, .ioctls = 0};
    if (control(file.get(), UFFDIO_API, api) != 0) return open_status(errno);
    if ((api.features & features) != features) return Status::not_supported;
    return file;
}

Expected<FileDescriptor> open_pagemap() noexcept {
    auto file = FileDescriptor::open_for_reading("/proc/self/pagemap");
    if (!file) return file.status() == Status::not_found ? Status::not_supported : file.status();
    // A scan of an empty range tells whether the kernel knows the request.
    abi::PagemapScan probe{};
    probe.size = sizeof(probe);
    probe.returned_categories = abi::kPageIsWritten;
    probe.required_categories = abi::kPageIsWritten;
    const long result =
        attempt(OsCall::scan_pagemap, [&] { return long{::ioctl(file->get(), abi::kPagemapScan, &probe)}; });
    if (result < 0) return open_status(errno);
    return file;
}

Expected<KernelTracker> KernelTracker::create() noexcept {
    auto faults = open_userfaultfd(abi::kTrackingFeatures);
    if (!faults) return faults.status();
    auto pagemap = open_pagemap();
    if (!pagemap) return pagemap.status();
    return KernelTracker(faults->release(), pagemap->release());
}

KernelTracker::KernelTracker(KernelTracker&& other) noexcept
    : fault_descriptor_(std::exchange(other.fault_descriptor_, -1)),
      pagemap_descriptor_(std::exchange(other.pagemap_descriptor_, -1)),
      ranges_(other.ranges_),
      range_count_(std::exchange(other.range_count_, 0)) {}

KernelTracker& KernelTracker::operator=(KernelTracker&& other) noexcept {
    if (this != &other) {
        std::destroy_at(this);
        std::construct_at(this, std::move(other));
    }
    return *this;
}

KernelTracker::~KernelTracker() {
    if (fault_descriptor_ >= 0) ::close(fault_descriptor_);
    if (pagemap_descriptor_ >= 0) ::close(pagemap_descriptor_);
}

Status KernelTracker::check_tracked(MemoryBlock range) const noexcept {
    const Status checked = check_pages(range);
    if (checked != Status::ok) return checked;
    for (std::size_t i = 0; i < range_count_; ++i) {
        if (ranges_[i].contains(range)) return Status::ok;
    }
    return Status::not_tracked;
}

Expected<void> KernelTracker::add(MemoryBlock range) noexcept {
    const Status checked = check_pages(range);
    if (checked != Status::ok) return checked;
    // The kernel would take its own range again, and arming it would forget what was written.
    for (std::size_t i = 0; i < range_count_; ++i) {
        if (ranges_[i].overlaps(range)) return Status::already_tracked;
    }
    if (range_count_ == kMaxRanges) return Status::capacity_exhausted;
    uffdio_register request{.range = kernel_range(range), .mode = UFFDIO_REGISTER_MODE_WP, .ioctls = 0};
    if (control(fault_descriptor_, UFFDIO_REGISTER, request) != 0) {
        if (errno == EBUSY) return Status::already_tracked;
        if (errno == ENOMEM) return explain_no_memory(range);
        if (errno == EINVAL) return is_mapped(range) ? Status::bad_address : Status::not_mapped;
        return status_of_error(errno);
    }
    ranges_[range_count_++] = range;
    const auto armed = arm(range);
    if (!armed) (void)remove(range);
    return armed;
}

Expected<void> KernelTracker::remove(MemoryBlock range) noexcept {
    std::size_t index = 0;
    while (index < range_count_ && ranges_[index] != range)
        ++index;
    if (index == range_count_) return Status::not_tracked;
    uffdio_range request = kernel_range(range);
    if (control(fault_descriptor_, UFFDIO_UNREGISTER, request) != 0) return status_of_error(errno);
    ranges_[index] = ranges_[--range_count_];
    return {};
}

Expected<void> KernelTracker::arm(MemoryBlock range) noexcept {
    return set_protection(range, true);
}

Expected<void> KernelTracker::open(MemoryBlock range) noexcept {
    return set_protection(range, false);
}

Expected<void> KernelTracker::set_protection(MemoryBlock range, bool armed) noexcept {
    const Status checked = check_tracked(range);
    if (checked != Status::ok) return checked;
    uffdio_writeprotect request{.range = kernel_range(range),
                                .mode = armed ? UFFDIO_WRITEPROTECT_MODE_WP : 0};
    for (;;) {
        if (control(fault_descriptor_, UFFDIO_WRITEPROTECT, request) == 0) return {};
        // The mappings are changing under another thread's hands; the kernel asks to try again.
        if (errno != EAGAIN && errno != EINTR) break;
    }
    return errno == ENOENT || errno == EINVAL ? Status::not_tracked : status_of_error(errno);
}

Expected<ScanResult> KernelTracker::scan(MemoryBlock range, std::span<WrittenRange> out,
                                         AfterScan after) noexcept {
    const Status checked = check_tracked(range);
    if (checked != Status::ok) return checked;
    if (out.empty()) return Status::bad_argument;
    abi::PagemapScan scan{};
    scan.size = sizeof(scan);
    scan.flags = abi::kScanCheckAsync | (after == AfterScan::rearm ? abi::kScanWriteProtect : 0);
    scan.start = reinterpret_cast<std::uintptr_t>(range.data);
    scan.end = scan.start + range.size;
    scan.ranges = reinterpret_cast<std::uintptr_t>(out.data());
    scan.range_count = out.size();
    scan.required_categories = abi::kPageIsWritten;
    scan.returned_categories = abi::kPageIsWritten;
    long count = -1;
    do {
        count = attempt(OsCall::scan_pagemap,
                        [&] { return long{::ioctl(pagemap_descriptor_, abi::kPagemapScan, &scan)}; });
    } while (count < 0 && errno == EINTR);
    if (count < 0) return errno == EPERM ? Status::not_tracked : status_of_error(errno);
    const bool complete = scan.walk_end >= scan.end;
    return ScanResult{static_cast<std::size_t>(count),
                      complete ? nullptr : range.data + static_cast<std::size_t>(scan.walk_end - scan.start)};
}

}  // namespace ouro::os
