#pragma once

#include "harness/must.hpp"
#include "linux/kernel_abi.hpp"

#include <ouro/base/memory_block.hpp>
#include <ouro/os/write_tracking.hpp>

#include <span>

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// userfaultfd and PAGEMAP_SCAN by their raw calls: what KernelTracker is compared with.
namespace ouro::bench {

class RawFaults {
public:
    explicit RawFaults(MemoryBlock range)
        : file_(
              static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | os::abi::kUserModeOnly))) {
        must(file_ >= 0, "userfaultfd");
        uffdio_api api{.api = UFFD_API, .features = os::abi::kTrackingFeatures, .ioctls = 0};
        must(::ioctl(file_, UFFDIO_API, &api) == 0, "UFFDIO_API");
        uffdio_register request{.range = kernel_range(range), .mode = UFFDIO_REGISTER_MODE_WP, .ioctls = 0};
        must(::ioctl(file_, UFFDIO_REGISTER, &request) == 0, "UFFDIO_REGISTER");
    }
    RawFaults(const RawFaults&) = delete;
    RawFaults& operator=(const RawFaults&) = delete;
    ~RawFaults() { ::close(file_); }

    void arm(MemoryBlock block) const {
        uffdio_writeprotect request{.range = kernel_range(block), .mode = UFFDIO_WRITEPROTECT_MODE_WP};
        must(::ioctl(file_, UFFDIO_WRITEPROTECT, &request) == 0, "UFFDIO_WRITEPROTECT");
    }

private:
    static uffdio_range kernel_range(MemoryBlock block) noexcept {
        return {reinterpret_cast<std::uintptr_t>(block.data), block.size};
    }

    int file_;
};

// Scans what anybody in the process tracks.
class RawPagemap {
public:
    RawPagemap() : file_(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)) { must(file_ >= 0, "pagemap"); }
    RawPagemap(const RawPagemap&) = delete;
    RawPagemap& operator=(const RawPagemap&) = delete;
    ~RawPagemap() { ::close(file_); }

    // How many runs of written pages there are.
    [[nodiscard]] std::size_t scan(MemoryBlock block, std::span<os::WrittenRange> out, bool rearm) const {
        os::abi::PagemapScan request{};
        request.size = sizeof(request);
        request.flags = os::abi::kScanCheckAsync | (rearm ? os::abi::kScanWriteProtect : 0);
        request.start = reinterpret_cast<std::uintptr_t>(block.data);
        request.end = request.start + block.size;
        request.ranges = reinterpret_cast<std::uintptr_t>(out.data());
        request.range_count = out.size();
        request.required_categories = os::abi::kPageIsWritten;
        request.returned_categories = os::abi::kPageIsWritten;
        const int count = ::ioctl(file_, os::abi::kPagemapScan, &request);
        must(count >= 0, "PAGEMAP_SCAN");
        return static_cast<std::size_t>(count);
    }

private:
    int file_;
};

}  // namespace ouro::bench
