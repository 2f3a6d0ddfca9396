// Copying, comparing and hashing pages.
#include "harness/case.hpp"
#include "hash_kernels.hpp"
#include "os/os_suite.hpp"
#include "os/raw_memory.hpp"
#include "os/two_threads.hpp"

#include <ouro/base/cpu.hpp>
#include <ouro/base/hash.hpp>

#include <cstring>
#include <string>

namespace ouro::bench {
namespace {

using Copy = void (*)(std::byte* to, const std::byte* from, std::size_t bytes) noexcept;

void copy_plain(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
    std::memcpy(to, from, bytes);
    keep(*to);
}

void measure_page_copies(Session& session) {
    const RawMapping source = filled_memory(kPage);
    const RawMapping target = filled_memory(kPage);
    const RawMapping pool = filled_memory(session.sized(256 * kMiB, kMiB));
    const std::byte* from = source.block().data;
    std::byte* to = target.block().data;
    session.measure("copy 4 KiB in cache, memcpy", kNanoseconds)
        .ours(repeat([=](std::uint64_t) { copy_plain(to, from, kPage); }))
        .note("reference 81 ns")
        .run();
    // The pool is larger than the caches, and all go on where the last one ended, so that nobody finds its
    // pages warm.
    std::size_t at = 0;
    const auto into_pool = [&at, from, block = pool.block()](Copy copy) {
        return Work([&at, from, block, copy](Round& round) {
            round.time([&] {
                for (std::uint64_t i = 0; i < round.operations(); ++i) {
                    copy(block.data + at, from, kPage);
                    at = at + kPage == block.size ? 0 : at + kPage;
                }
                finish_streaming();
            });
        });
    };
    session.measure("copy 4 KiB into " + size_name(pool.block().size) + ", streaming", kNanoseconds)
        .ours(into_pool(copy_streaming))
        .peer("memcpy", libc_version(), into_pool(copy_plain))
        .note("reference 332 ns, to a pool larger than the caches")
        .operations(pool.block().size / kPage)
        .run();
}

void measure_image_copies(Session& session, MemoryBlock from, MemoryBlock to) {
    const auto whole = [=](Copy copy) {
        return repeat([=](std::uint64_t) {
            copy(to.data, from.data, from.size);
            finish_streaming();
        });
    };
    const Unit rate = gigabytes_per_second(static_cast<double>(from.size));
    const std::string name = "copy " + size_name(from.size) + ", streaming";
    session.measure(name, rate)
        .ours(whole(copy_streaming))
        .peer("memcpy", libc_version(), whole(copy_plain))
        .note("reference 16.5 GB/s, memcpy 14.7")
        .run();
    if (os::core_count() < 2) {
        session.measure(name + ", two threads", rate).unavailable("there is one core only");
        return;
    }
    SecondThread second;
    const auto halves = [&second, from, to](Copy copy) {
        return repeat([&second, from, to, copy](std::uint64_t) {
            const std::size_t half = from.size / 2;
            second.run_both([=](int part) {
                const std::size_t offset = part == 0 ? 0 : half;
                copy(to.data + offset, from.data + offset, half);
                finish_streaming();
            });
        });
    };
    session.measure(name + ", two threads", rate)
        .ours(halves(copy_streaming))
        .peer("memcpy", libc_version(), halves(copy_plain))
        .note("reference 26 GB/s")
        .on_any_core()
        .run();
}

void measure_compare(Session& session, MemoryBlock a, MemoryBlock b) {
    std::memcpy(b.data, a.data, a.size);
    session
        .measure("compare " + size_name(a.size) + " with a copy, memcmp",
                 gigabytes_per_second(static_cast<double>(a.size)))
        .ours(repeat([=](std::uint64_t) { return std::memcmp(a.data, b.data, a.size) == 0 ? 1 : 0; }))
        .run();
}

void measure_hash(Session& session, const std::string& name, MemoryBlock block, const char* note) {
    session.measure(name, gigabytes_per_second(static_cast<double>(block.size)))
        .ours(repeat([=](std::uint64_t i) { return hash_bytes(block.data, block.size, i); }))
        .peer("XXH3 without dispatch", cpu_baseline(),
              repeat([=](std::uint64_t i) { return hash_baseline(block.data, block.size, i); }))
        .bar(ratio_at_least(cpu_features().avx2 ? 1.0 : 0.95))
        .note(note)
        .run();
}

}  // namespace

void measure_copies(Session& session) {
    measure_page_copies(session);
    const std::size_t bytes = session.sized(25'600, 256) * kPage;
    const RawMapping image = filled_memory(bytes);
    const RawMapping copy = filled_memory(bytes);
    measure_image_copies(session, image.block(), copy.block());
    measure_compare(session, image.block(), copy.block());
    measure_hash(session, "hash_bytes of 4 KiB in cache", image.block().sub(0, kPage), "reference 21 GB/s");
    measure_hash(session, "hash_bytes of " + size_name(bytes), image.block(), "");
}

}  // namespace ouro::bench
