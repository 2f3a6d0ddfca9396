// Writes noticed by the kernel: the fault of an armed page, and arming it again.
#include "harness/case.hpp"
#include "os/os_suite.hpp"
#include "os/raw_memory.hpp"
#include "os/raw_tracking.hpp"
#include "os/tracked_object.hpp"

#include <ouro/os/capabilities.hpp>

namespace ouro::bench {
namespace {

// The same object under our tracker and, at another address, under the raw calls: a range has one tracker
// only.
struct Arena {
    explicit Arena(std::size_t bytes)
        : ours(bytes, true),
          mapping(must(ours.object.map({.bytes = bytes}), "map")),
          raw((must(os::prefault(mapping.block()), "prefault"), mapping.block())) {}

    TrackedObject ours;
    os::Mapping mapping;
    RawFaults raw;
};

void measure_armed_write(Session& session, Arena& arena) {
    const std::size_t bytes = arena.mapping.block().size;
    const RawMapping present = filled_memory(bytes);
    session.measure("first write to an armed page", kNanoseconds)
        .ours([&](Round& round) {
            arena.ours.arm_all();
            round.time([&] { touch(arena.ours.block(), kPage); });
        })
        .peer("userfaultfd(2)", kernel_version(),
              [&](Round& round) {
                  arena.raw.arm(arena.mapping.block());
                  round.time([&] { touch(arena.mapping.block(), kPage); });
              })
        .bound("a write to a page that is there",
               [&](Round& round) { round.time([&] { touch(present.block(), kPage); }); })
        .bar(ratio_at_most(1.05))
        .note("reference 1,100 ns")
        .operations(bytes / kPage)
        .run();
}

// Arms in steps of so many bytes what was written before.
void measure_arming(Session& session, Arena& arena, std::size_t step, const std::string& name) {
    const auto arm_written = [step](MemoryBlock block, auto arm) {
        return Work([=](Round& round) {
            touch(block, kPage);
            round.time([&] {
                for (std::size_t offset = 0; offset < block.size; offset += step)
                    arm(block.sub(offset, step));
            });
        });
    };
    session.measure(name, kNanoseconds)
        .ours(arm_written(arena.ours.block(),
                          [&](MemoryBlock part) { must(arena.ours.tracker.arm(part), "arm"); }))
        .peer("UFFDIO_WRITEPROTECT", kernel_version(),
              arm_written(arena.mapping.block(), [&](MemoryBlock part) { arena.raw.arm(part); }))
        .bar(ratio_at_most(1.05))
        .operations(arena.mapping.block().size / kPage)
        .run();
}

}  // namespace

void measure_kernel_tracking(Session& session) {
    if (!os::query_capabilities().kernel_tracking()) {
        session.measure("first write to an armed page", kNanoseconds)
            .unavailable("the kernel does not track writes here; `ouro doctor` says why");
        return;
    }
    const std::size_t bytes = session.sized(4 * kMiB, kMiB);
    Arena arena(bytes);
    measure_armed_write(session, arena);
    measure_arming(session, arena, kPage, "arm one written page");
    measure_arming(session, arena, bytes, "arm " + size_name(bytes) + " at once, per written page");
}

}  // namespace ouro::bench
