#include <ouro/os/capabilities.hpp>

#include <cstdint>
#include <cstdio>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace {

// Asks the kernel with calls and numbers of its own, so that a mistake in the library's numbers does not make
// every test of kernel tracking skip in silence.
struct ApiRequest {
    std::uint64_t api = 0xAA;
    std::uint64_t features = 0;
    std::uint64_t ioctls = 0;
};

bool kernel_offers_async_write_protect() {
    constexpr int kUserModeOnly = 1;
    const long descriptor = ::syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | kUserModeOnly);
    if (descriptor < 0) return false;
    ApiRequest request;
    request.features = std::uint64_t{1} << 15;
    constexpr unsigned long kApi = 0xC018AA3F;
    const bool offered = ::ioctl(static_cast<int>(descriptor), kApi, &request) == 0;
    ::close(static_cast<int>(descriptor));
    return offered;
}

bool kernel_is_at_least(int major, int minor) {
    utsname names{};
    int found_major = 0;
    int found_minor = 0;
    if (::uname(&names) != 0 || std::sscanf(names.release, "%d.%d", &found_major, &found_minor) != 2)
        return false;
    return found_major > major || (found_major == major && found_minor >= minor);
}

TEST(KernelProbe, TheReportIsWhatTheKernelOffers) {
    const ouro::os::Capabilities report = ouro::os::query_capabilities();
    EXPECT_EQ(report.userfaultfd_wp_async == ouro::Status::ok, kernel_offers_async_write_protect());
    EXPECT_EQ(report.pagemap_scan == ouro::Status::ok, kernel_is_at_least(6, 7));
    EXPECT_EQ(report.kernel_tracking(), kernel_offers_async_write_protect() && kernel_is_at_least(6, 7));
}

}  // namespace
