// PAGEMAP_SCAN: finding the written pages of an image.
#include "harness/case.hpp"
#include "os/os_suite.hpp"
#include "os/raw_memory.hpp"
#include "os/raw_tracking.hpp"
#include "os/tracked_object.hpp"

#include <ouro/os/capabilities.hpp>

#include <string>
#include <vector>

namespace ouro::bench {
namespace {

struct ScanCase {
    std::string name;
    // Every n-th page is written; none for zero.
    std::size_t nth_page;
    std::string note;
};

// Both candidates scan the same range, so that both walk the same page tables.
class Scanner {
public:
    Scanner(std::size_t pages, bool populated) : tracked_(pages * kPage, populated), ranges_(pages / 2 + 1) {}

    void measure_scan(Session& session, const ScanCase& wanted) {
        tracked_.arm_all();
        write_every(wanted.nth_page);
        session.measure(wanted.name, kMicroseconds)
            .ours(repeat([&](std::uint64_t) { return scan(os::AfterScan::leave_open); }))
            .peer("PAGEMAP_SCAN", kernel_version(),
                  repeat([&](std::uint64_t) { return pagemap_.scan(tracked_.block(), ranges_, false); }))
            .bar(ratio_at_most(1.05))
            .note(wanted.note)
            .run();
    }

    void measure_scan_and_rearm(Session& session, const ScanCase& wanted) {
        tracked_.arm_all();
        const auto rearming = [&](auto scan_once) {
            return Work([this, scan_once, nth_page = wanted.nth_page](Round& round) {
                write_every(nth_page);
                std::size_t found = 0;
                round.time([&] { found = scan_once(); });
                round.check(found);
            });
        };
        session.measure(wanted.name, kMicroseconds)
            .ours(rearming([this] { return scan(os::AfterScan::rearm); }))
            .peer("PAGEMAP_SCAN", kernel_version(),
                  rearming([this] { return pagemap_.scan(tracked_.block(), ranges_, true); }))
            .bar(ratio_at_most(1.05))
            .note(wanted.note)
            .operations(1)
            .run();
    }

private:
    [[nodiscard]] std::size_t scan(os::AfterScan after) {
        return must(tracked_.tracker.scan(tracked_.block(), ranges_, after), "scan").count;
    }
    void write_every(std::size_t nth_page) const {
        if (nth_page != 0) touch(tracked_.block(), nth_page * kPage);
    }

    TrackedObject tracked_;
    RawPagemap pagemap_;
    std::vector<os::WrittenRange> ranges_;
};

}  // namespace

void measure_scans(Session& session) {
    if (!os::query_capabilities().kernel_tracking()) {
        session.measure("scan the written pages", kMicroseconds)
            .unavailable("the kernel does not track writes here; `ouro doctor` says why");
        return;
    }
    {
        const std::size_t pages = session.sized(25'600, 1'024);
        const std::string scan = "scan " + size_name(pages * kPage);
        Scanner image(pages, true);
        image.measure_scan(session, {scan + ", nothing written", 0, "reference 34 us for 25,600 pages"});
        image.measure_scan(session, {scan + ", 1 % of pages written", 100, {}});
        image.measure_scan(session, {scan + ", 10 % of pages written", 10, {}});
        image.measure_scan_and_rearm(session, {scan + " and rearm, 1 % written", 100, {}});
    }
    const std::size_t pages = session.sized(2'560'000, 10'240);
    Scanner table(pages, false);
    table.measure_scan(session, {"scan " + size_name(pages * kPage) + " reserved, unwritten", 0,
                                 "reference 4,800 us for 2,560,000 pages"});
}

}  // namespace ouro::bench
