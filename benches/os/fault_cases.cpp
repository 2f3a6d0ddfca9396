// What the first write to a page costs, and what preparing for it costs instead.
#include "harness/case.hpp"
#include "os/os_suite.hpp"
#include "os/raw_memory.hpp"

#include <ouro/os/huge_pages.hpp>
#include <ouro/os/memory_object.hpp>
#include <ouro/os/reservation.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <cstring>

namespace ouro::bench {
namespace {

constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE, missing from older headers

os::Reservation committed_memory(std::size_t bytes) {
    os::Reservation memory = must(os::Reservation::create({.bytes = bytes}), "reserve");
    must(memory.commit(0, bytes), "commit");
    forbid_huge_pages(memory.block());
    return memory;
}

RawMapping raw_memory(std::size_t bytes) {
    RawMapping memory(bytes);
    forbid_huge_pages(memory.block());
    return memory;
}

// Touches every page of memory that `make` makes anew in each round.
template <class Make>
Work first_touch(std::size_t bytes, Make make) {
    return [=](Round& round) {
        const auto memory = make(bytes);
        round.time([&] { touch(memory.block(), kPage); });
    };
}

// The same on memory that is there already: what remains of a write without the fault.
Work touch_again(MemoryBlock block) {
    return [=](Round& round) { round.time([&] { touch(block, kPage); }); };
}

void measure_first_touch(Session& session, std::size_t bytes, MemoryBlock present) {
    session.measure("first write to a page, anonymous", kNanoseconds)
        .ours(first_touch(bytes, committed_memory))
        .peer("mmap(2)", kernel_version(), first_touch(bytes, raw_memory))
        .bound("a write to a page that is there", touch_again(present))
        .bar(ratio_at_most(1.05))
        .operations(bytes / kPage)
        .run();
    session.measure("first write to a page, memory object", kNanoseconds)
        .ours([=](Round& round) {
            const auto object = must(os::MemoryObject::create(bytes, "bench"), "memory object");
            const auto mapping = must(object.map({.bytes = bytes}), "map");
            round.time([&] { touch(mapping.block(), kPage); });
        })
        .peer("memfd_create(2)", kernel_version(),
              [=](Round& round) {
                  const RawMemfd file(bytes);
                  const RawMapping mapping(bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.descriptor());
                  round.time([&] { touch(mapping.block(), kPage); });
              })
        .bound("a write to a page that is there", touch_again(present))
        .bar(ratio_at_most(1.05))
        .operations(bytes / kPage)
        .run();
}

void measure_prefault(Session& session, std::size_t bytes, MemoryBlock present) {
    session.measure("prefault, per page", kNanoseconds)
        .ours([=](Round& round) {
            const auto memory = committed_memory(bytes);
            round.time([&] { must(os::prefault(memory.block()), "prefault"); });
        })
        .peer("madvise(2)", kernel_version(),
              [=](Round& round) {
                  const auto memory = raw_memory(bytes);
                  round.time([&] {
                      must(::madvise(memory.block().data, bytes, kPopulateWrite) == 0, "MADV_POPULATE_WRITE");
                  });
              })
        .bound("zeroing a page that is there",
               [=](Round& round) { round.time([&] { std::memset(present.data, 0, present.size); }); })
        .bar(ratio_at_most(1.05))
        .operations(bytes / kPage)
        .run();
    session.measure("write to a prefaulted page", kNanoseconds)
        .ours([=](Round& round) {
            const auto memory = committed_memory(bytes);
            must(os::prefault(memory.block()), "prefault");
            round.time([&] { touch(memory.block(), kPage); });
        })
        .peer("MAP_POPULATE", kernel_version(),
              [=](Round& round) {
                  const RawMapping memory(bytes, PROT_READ | PROT_WRITE,
                                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE);
                  round.time([&] { touch(memory.block(), kPage); });
              })
        .operations(bytes / kPage)
        .run();
}

}  // namespace

void measure_faults(Session& session) {
    const std::size_t bytes = session.sized(4 * kMiB, kMiB);
    const RawMapping present = filled_memory(bytes);
    measure_first_touch(session, bytes, present.block());
    measure_prefault(session, bytes, present.block());
}

}  // namespace ouro::bench
