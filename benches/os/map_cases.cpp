// Reserving, committing, protecting and mapping.
#include "harness/case.hpp"
#include "os/os_suite.hpp"
#include "os/raw_memory.hpp"

#include <ouro/os/memory_object.hpp>
#include <ouro/os/reservation.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <fcntl.h>
#include <sys/syscall.h>

namespace ouro::bench {
namespace {

constexpr int kReserveFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

void measure_protect(Session& session, const char* name, std::size_t bytes) {
    const RawMapping memory = filled_memory(kMiB);
    const MemoryBlock part = memory.block().sub(kMiB / 2, bytes);
    session.measure(name, kNanoseconds)
        .ours(repeat([=](std::uint64_t i) {
            must(os::protect(part, i % 2 == 0 ? os::Protection::read : os::Protection::read_write),
                 "protect");
        }))
        .peer("mprotect(2)", kernel_version(), repeat([=](std::uint64_t i) {
                  const int protection = i % 2 == 0 ? PROT_READ : PROT_READ | PROT_WRITE;
                  must(::mprotect(part.data, part.size, protection) == 0, "mprotect");
              }))
        .bound("an empty system call", repeat([](std::uint64_t) { keep(::syscall(SYS_getppid)); }))
        .bar(ratio_at_most(1.05))
        .run();
}

template <class Step>
void for_each_mebibyte(MemoryBlock block, Step step) {
    for (std::size_t offset = 0; offset < block.size; offset += kMiB)
        step(block.sub(offset, kMiB));
}

void measure_commit(Session& session, std::size_t bytes) {
    session.measure("commit 1 MiB", kNanoseconds)
        .ours([=](Round& round) {
            const auto memory = must(os::Reservation::create({.bytes = bytes}), "reserve");
            round.time([&] {
                for_each_mebibyte(memory.block(), [](MemoryBlock part) { must(os::commit(part), "commit"); });
            });
        })
        .peer("mprotect(2)", kernel_version(),
              [=](Round& round) {
                  const RawMapping memory(bytes, PROT_NONE, kReserveFlags);
                  round.time([&] {
                      for_each_mebibyte(memory.block(), [](MemoryBlock part) {
                          must(::mprotect(part.data, part.size, PROT_READ | PROT_WRITE) == 0, "mprotect");
                      });
                  });
              })
        .bar(ratio_at_most(1.05))
        .operations(bytes / kMiB)
        .run();
}

void measure_decommit(Session& session, std::size_t bytes) {
    session.measure("decommit 1 MiB that was written", kMicroseconds)
        .ours([=](Round& round) {
            auto memory = must(os::Reservation::create({.bytes = bytes}), "reserve");
            must(memory.commit(0, bytes), "commit");
            forbid_huge_pages(memory.block());
            touch(memory.block(), kPage);
            round.time([&] {
                for_each_mebibyte(memory.block(),
                                  [](MemoryBlock part) { must(os::decommit(part), "decommit"); });
            });
        })
        .peer("mmap(2)", kernel_version(),
              [=](Round& round) {
                  const RawMapping memory(bytes);
                  forbid_huge_pages(memory.block());
                  touch(memory.block(), kPage);
                  round.time([&] {
                      for_each_mebibyte(memory.block(), [](MemoryBlock part) {
                          const void* again =
                              ::mmap(part.data, part.size, PROT_NONE, kReserveFlags | MAP_FIXED, -1, 0);
                          must(again != MAP_FAILED, "mmap");
                      });
                  });
              })
        .bar(ratio_at_most(1.25))
        .note("ours asks first whether all of it is mapped")
        .operations(bytes / kMiB)
        .run();
}

void measure_reserve(Session& session) {
    constexpr std::size_t kBytes = 1024 * kMiB;
    session.measure("reserve and release 1 GiB", kNanoseconds)
        .ours(repeat([](std::uint64_t) {
            const MemoryBlock block = must(os::reserve({.bytes = kBytes}), "reserve");
            must(os::release(block), "release");
        }))
        .peer("mmap(2), munmap(2)", kernel_version(),
              repeat([](std::uint64_t) { keep(RawMapping(kBytes, PROT_NONE, kReserveFlags)); }))
        .bar(ratio_at_most(1.05))
        .run();
}

void measure_object(Session& session) {
    session.measure("object: create, map, unmap 1 MiB", kNanoseconds)
        .ours(repeat([](std::uint64_t) {
            const auto object = must(os::MemoryObject::create(kMiB, "bench"), "memory object");
            keep(must(object.map({.bytes = kMiB}), "map"));
        }))
        .peer("the same raw calls", kernel_version(), repeat([](std::uint64_t) {
                  const RawMemfd file(kMiB);
                  must(::fcntl(file.descriptor(), F_ADD_SEALS, F_SEAL_SHRINK) == 0, "fcntl");
                  keep(RawMapping(kMiB, PROT_READ | PROT_WRITE, MAP_SHARED, file.descriptor()));
              }))
        .bar(ratio_at_most(1.05))
        .run();
    const auto object = must(os::MemoryObject::create(kMiB, "bench"), "memory object");
    session.measure("map and unmap 1 MiB of an object", kNanoseconds)
        .ours(repeat([&](std::uint64_t) { keep(must(object.map({.bytes = kMiB}), "map")); }))
        .peer("mmap(2), munmap(2)", kernel_version(), repeat([&](std::uint64_t) {
                  keep(RawMapping(kMiB, PROT_READ | PROT_WRITE, MAP_SHARED, object.descriptor()));
              }))
        .bar(ratio_at_most(1.05))
        .run();
}

}  // namespace

void measure_maps(Session& session) {
    measure_protect(session, "protect or open a page", kPage);
    measure_protect(session, "protect or open 64 KiB", 64 * kKiB);
    const std::size_t bytes = session.sized(64 * kMiB, 4 * kMiB);
    measure_commit(session, bytes);
    measure_decommit(session, bytes);
    measure_reserve(session);
    measure_object(session);
}

}  // namespace ouro::bench
