#include "harness/case.hpp"
#include "harness/must.hpp"
#include "harness/peers.hpp"
#include "memory/frames_of.hpp"
#include "memory/memory_suite.hpp"

#include <ouro/memory/allocator.hpp>
#include <ouro/memory/frame_allocator.hpp>
#include <ouro/os/clock.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <cstring>
#include <memory_resource>
#include <string>

namespace ouro::bench {
namespace {

void measure_size(Session& session, std::size_t size, std::uint64_t objects, FrameAllocator& frame,
                  std::byte* buffer) {
    const std::string label = std::to_string(size) + " B, " + std::to_string(objects) + " a frame";
    // Its own release() goes back to the buffer it started with: the equal of our reset.
    std::pmr::monotonic_buffer_resource monotonic(buffer, kFrameBytes, std::pmr::null_memory_resource());
    const Work monotonic_frames =
        frames_of(objects, [&, size] { return monotonic.allocate(size, 16); }, [&] { monotonic.release(); });
    MemoryResource& through_contract = frame;
    const auto reset = [&] { frame.reset(); };
    session.measure("frame: " + label, kNanoseconds)
        .ours(frames_of(
            objects, [&, size] { return static_cast<void*>(frame.allocate(size, 16)->data); }, reset))
        .peer("pmr::monotonic", standard_library_version(), monotonic_frames)
        .bar(ratio_at_most(0.6))
        .run();
    session.measure("frame: " + label + ", virtual", kNanoseconds)
        .ours(frames_of(
            objects, [&, size] { return static_cast<void*>(through_contract.allocate(size, 16)->data); },
            reset))
        .peer("pmr::monotonic", standard_library_version(), monotonic_frames)
        .bar(ratio_at_most(0.6))
        .run();
}

// What engine code pays that holds a handle: the virtual call, and the question whether it may allocate here.
void measure_handle(Session& session, FrameAllocator& frame, std::byte* buffer) {
    constexpr std::size_t kSize = 64;
    std::pmr::monotonic_buffer_resource monotonic(buffer, kFrameBytes, std::pmr::null_memory_resource());
    std::pmr::memory_resource& through_standard = monotonic;
    const Allocator handle = frame;
    session.measure("frame: 64 B, 2000 a frame, by handle", kNanoseconds)
        .ours(frames_of(
            kSmallFrame, [&] { return static_cast<void*>(handle.allocate(kSize, 16)->data); },
            [&] { frame.reset(); }))
        .peer("pmr::monotonic", standard_library_version(),
              frames_of(
                  kSmallFrame, [&] { return through_standard.allocate(kSize, 16); },
                  [&] { monotonic.release(); }))
        .bar(ratio_at_most(0.6))
        .run();
}

// The writes of the large frame alone, with no allocator before them: what is left of its row's ratio when an
// allocation costs nothing. A row of its own, because another candidate beside those two would change what
// they find in the cache.
void measure_bare_writes(Session& session, std::byte* memory, std::byte* buffer) {
    constexpr std::size_t kSize = 256;
    std::pmr::monotonic_buffer_resource monotonic(buffer, kFrameBytes, std::pmr::null_memory_resource());
    std::byte* next = memory;
    const auto take = [&] {
        std::byte* taken = next;
        next += kSize;
        return static_cast<void*>(taken);
    };
    session.measure("frame: 256 B, 100000 a frame, writes alone", kNanoseconds)
        .ours(frames_of(kLargeFrame, take, [&] { next = memory; }))
        .peer("pmr::monotonic", standard_library_version(),
              frames_of(
                  kLargeFrame, [&] { return monotonic.allocate(kSize, 16); }, [&] { monotonic.release(); }))
        .note("nothing of ours in it: the cost of the memory")
        .run();
}

void measure_reset(Session& session, FrameAllocator& frame) {
    session.measure("frame: reset after 1,000,000 objects", kNanoseconds)
        .ours([&](Round& round) {
            std::uint64_t count = 0;
            for (std::uint64_t i = 0; i < round.operations(); ++i) {
                for (int object = 0; object < 1'000'000; ++object)
                    count += frame.allocate(16, 16) ? 1U : 0U;
                round.time([&] { frame.reset(); });
            }
            round.check(count);
        })
        .operations(1)
        .bar(value_at_most(150'000))
        .note("without decay")
        .run();
}

// The one reset in 128 that gives back what the frames since did not need.
void measure_decay(Session& session) {
    constexpr std::size_t kUnused = std::size_t{16} << 20;
    session.measure("frame: a reset that gives 16 MiB back", kNanoseconds)
        .ours([&](Round& round) {
            std::uint64_t given_back = 0;
            for (std::uint64_t i = 0; i < round.operations(); ++i) {
                auto frame = must(FrameAllocator::create({.max_bytes = 2 * kUnused}), "make a frame");
                std::memset(must(frame.allocate(kUnused, 16), "fill a frame").data, 1, kUnused);
                const std::size_t committed = frame.stats().committed_bytes;
                std::uint64_t last_ns = 0;
                while (frame.stats().committed_bytes == committed) {
                    const std::uint64_t begin_ns = os::monotonic_ns();
                    frame.reset();
                    last_ns = os::monotonic_ns() - begin_ns;
                }
                round.add_time(static_cast<double>(last_ns));
                given_back += committed - frame.stats().committed_bytes;
            }
            round.check(given_back);
        })
        .operations(1)
        .note("a system call; the other resets take some nanoseconds")
        .run();
}

}  // namespace

void measure_frames(Session& session) {
    auto frame = must(FrameAllocator::create({.max_bytes = kFrameBytes, .decay_resets = 0}), "make a frame");
    auto buffer = must(FrameAllocator::create({.max_bytes = kFrameBytes}), "make a buffer");
    std::byte* bytes = must(buffer.allocate(kFrameBytes, 16), "fill the buffer").data;
    const MemoryBlock all = must(frame.allocate(kFrameBytes, 16), "fill the frame");
    must(os::prefault(all), "prefault");
    must(os::prefault({bytes, kFrameBytes}), "prefault");
    frame.reset();
    for (const std::size_t size : {std::size_t{16}, std::size_t{64}, std::size_t{256}}) {
        measure_size(session, size, kSmallFrame, frame, bytes);
        measure_size(session, size, kLargeFrame, frame, bytes);
    }
    measure_handle(session, frame, bytes);
    measure_bare_writes(session, all.data, bytes);
    measure_reset(session, frame);
    measure_decay(session);
}

}  // namespace ouro::bench
