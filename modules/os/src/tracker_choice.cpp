#include <ouro/os/tracker_choice.hpp>

namespace ouro::os {
namespace {

std::string_view why_not_kernel(const Capabilities& capabilities) noexcept {
    if (capabilities.userfaultfd == Status::permission_denied) {
        return "page protection and SIGSEGV, because this system forbids userfaultfd to the process";
    }
    if (capabilities.userfaultfd != Status::ok) {
        return "page protection and SIGSEGV, because the kernel has no userfaultfd";
    }
    if (capabilities.userfaultfd_wp_async != Status::ok) {
        return "page protection and SIGSEGV, because userfaultfd lacks asynchronous write protection (Linux "
               "6.7)";
    }
    if (capabilities.pagemap_scan != Status::ok) {
        return "page protection and SIGSEGV, because the kernel has no PAGEMAP_SCAN (Linux 6.7)";
    }
    return "page protection and SIGSEGV, because no memory object can be mapped twice";
}

}  // namespace

TrackerChoice choose_tracker(const Capabilities& capabilities) noexcept {
    if (capabilities.kernel_tracking()) {
        return {TrackerKind::kernel,
                "userfaultfd with asynchronous write protection and PAGEMAP_SCAN both work here, without "
                "privilege"};
    }
    if (capabilities.page_protection) return {TrackerKind::protect, why_not_kernel(capabilities)};
    return {TrackerKind::compare, "comparing with a shadow copy, because pages cannot be protected here"};
}

std::string_view tracker_name(TrackerKind kind) noexcept {
    switch (kind) {
        case TrackerKind::kernel:
            return "kernel";
        case TrackerKind::protect:
            return "protect";
        case TrackerKind::compare:
            return "compare";
    }
    return "unknown";
}

}  // namespace ouro::os
