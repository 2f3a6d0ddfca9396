#include <ouro/os/tracker_choice.hpp>

#include <gtest/gtest.h>

namespace {

using ouro::Status;
using ouro::os::Capabilities;
using ouro::os::TrackerKind;

Capabilities full_report() {
    Capabilities report;
    report.memory_aliases = true;
    report.page_protection = true;
    report.userfaultfd = Status::ok;
    report.userfaultfd_wp_async = Status::ok;
    report.pagemap_scan = Status::ok;
    return report;
}

bool says(const Capabilities& report, TrackerKind kind, std::string_view word) {
    const auto choice = ouro::os::choose_tracker(report);
    return choice.kind == kind && choice.reason.find(word) != std::string_view::npos;
}

TEST(TrackerChoice, PrefersTheKernel) {
    EXPECT_TRUE(says(full_report(), TrackerKind::kernel, "PAGEMAP_SCAN"));
}

TEST(TrackerChoice, NamesWhatIsMissingForTheKernel) {
    Capabilities report = full_report();
    report.userfaultfd = Status::permission_denied;
    report.userfaultfd_wp_async = Status::permission_denied;
    EXPECT_TRUE(says(report, TrackerKind::protect, "forbids"));
    report.userfaultfd = Status::not_supported;
    EXPECT_TRUE(says(report, TrackerKind::protect, "no userfaultfd"));
    report.userfaultfd = Status::ok;
    EXPECT_TRUE(says(report, TrackerKind::protect, "asynchronous"));
    report.userfaultfd_wp_async = Status::ok;
    report.pagemap_scan = Status::not_supported;
    EXPECT_TRUE(says(report, TrackerKind::protect, "PAGEMAP_SCAN"));
    report.pagemap_scan = Status::ok;
    report.memory_aliases = false;
    EXPECT_TRUE(says(report, TrackerKind::protect, "mapped twice"));
}

TEST(TrackerChoice, ComparesWherePagesCannotBeProtected) {
    EXPECT_TRUE(says(Capabilities(), TrackerKind::compare, "shadow"));
}

}  // namespace
