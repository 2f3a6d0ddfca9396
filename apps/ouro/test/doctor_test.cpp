#include "doctor.hpp"

#include <cstring>
#include <string>

#include <gtest/gtest.h>

namespace {

using ouro::Status;
namespace os = ouro::os;

os::Capabilities sample_report() {
    os::Capabilities report;
    std::strcpy(report.system.data(), "Linux 6.7.0 x86_64");
    report.page_bytes = 4096;
    report.address_bits = 47;
    report.memory_aliases = true;
    report.page_protection = true;
    report.huge_page_bytes = std::size_t{2} << 20;
    report.transparent_huge_pages = os::TransparentHugePages::madvise;
    report.userfaultfd = Status::ok;
    report.userfaultfd_wp_async = Status::ok;
    report.pagemap_scan = Status::ok;
    report.cores = 8;
    report.memory = os::SystemMemory{std::uint64_t{16} << 30, std::uint64_t{8} << 30};
    report.cgroup = os::CgroupMemory{2, std::uint64_t{4} << 30, std::uint64_t{1} << 30};
    return report;
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

TEST(Doctor, TellsWhatThereIs) {
    const std::string text = ouro::doctor_text(sample_report());
    EXPECT_TRUE(has(text, "Linux 6.7.0 x86_64")) << text;
    EXPECT_TRUE(has(text, "16 GiB, 8 GiB available")) << text;
    EXPECT_TRUE(has(text, "4 GiB, 1 GiB used (cgroup v2)")) << text;
    EXPECT_TRUE(has(text, "2 MiB; reserved: 0 free of 0; transparent: where asked for")) << text;
    EXPECT_TRUE(has(text, "binding is not needed")) << text;
    EXPECT_TRUE(has(text, "kernel: userfaultfd with asynchronous")) << text;
}

TEST(Doctor, TellsWhatIsMissingAndWhatFollows) {
    os::Capabilities report = sample_report();
    report.userfaultfd = Status::permission_denied;
    report.userfaultfd_wp_async = Status::permission_denied;
    report.cgroup = Status::not_supported;
    const std::string text = ouro::doctor_text(report);
    EXPECT_TRUE(has(text, "protect: page protection and SIGSEGV, because this system forbids")) << text;
    EXPECT_TRUE(has(text, "no: The system does not allow it")) << text;
}

TEST(Doctor, TheJsonHoldsTheSame) {
    const auto json = ouro::doctor_json(sample_report());
    EXPECT_EQ(json["cores"], 8);
    EXPECT_EQ(json["tracking"]["chosen"], "kernel");
    EXPECT_EQ(json["memory"]["cgroup"]["limit_bytes"], std::uint64_t{4} << 30);
    EXPECT_EQ(json["features"]["userfaultfd_wp_async"], true);
    EXPECT_EQ(json["features"]["several_numa_nodes"], false);
    EXPECT_EQ(json["features"].size(), os::kFeatureCount);
}

// On the machine that runs the test, the text agrees with the functions themselves.
TEST(Doctor, TellsTheTruthHere) {
    const os::Capabilities report = os::query_capabilities();
    const auto json = ouro::doctor_json(report);
    EXPECT_EQ(json["tracking"]["chosen"] == "kernel", report.kernel_tracking());
    EXPECT_EQ(json["numa_nodes"], report.numa_nodes);
}

}  // namespace
