#include "harness/case.hpp"
#include "harness/must.hpp"
#include "harness/peers.hpp"
#include "memory/frames_of.hpp"
#include "ring/ring_suite.hpp"

#include <ouro/memory/frame_allocator.hpp>
#include <ouro/os/clock.hpp>
#include <ouro/os/virtual_memory.hpp>
#include <ouro/streams/frame_stream.hpp>

#include <array>
#include <memory_resource>
#include <string>

namespace ouro::bench {
namespace {

// What a program would write with the standard library: two resources that take turns.
class TwoMonotonic {
public:
    TwoMonotonic(std::byte* first, std::byte* second)
        : first_(first, kFrameBytes, std::pmr::null_memory_resource()),
          second_(second, kFrameBytes, std::pmr::null_memory_resource()) {}

    void* allocate(std::size_t size) { return current_->allocate(size, 16); }
    void swap() {
        current_ = current_ == &first_ ? &second_ : &first_;
        current_->release();
    }

private:
    std::pmr::monotonic_buffer_resource first_;
    std::pmr::monotonic_buffer_resource second_;
    std::pmr::monotonic_buffer_resource* current_ = &first_;
};

void measure_size(Session& session, std::size_t size, std::uint64_t objects, FrameStream& frames,
                  std::array<std::byte*, 2> buffers) {
    FrameWriter writer = frames.add_writer();
    TwoMonotonic monotonic(buffers[0], buffers[1]);
    session
        .measure("frame stream: " + std::to_string(size) + " B, " + std::to_string(objects) + " a frame",
                 kNanoseconds)
        .ours(frames_of(
            objects, [&, size] { return static_cast<void*>(writer.allocate(size, 16)->data); },
            [&] { frames.swap(); }))
        .peer("pmr::monotonic", standard_library_version(),
              frames_of(
                  objects, [&, size] { return monotonic.allocate(size); }, [&] { monotonic.swap(); }))
        .bar(ratio_at_most(0.6))
        .run();
}

// The writes of the large frames alone, with no allocator before them: what is left of that row's ratio when
// an allocation costs nothing. A row of its own, because another candidate beside those two would change what
// they find in the cache.
void measure_bare_writes(Session& session, std::array<std::byte*, 2> memory,
                         std::array<std::byte*, 2> buffers) {
    constexpr std::size_t kSize = 256;
    TwoMonotonic monotonic(buffers[0], buffers[1]);
    std::size_t frame = 0;
    std::byte* next = memory[0];
    const auto take = [&] {
        std::byte* const taken = next;
        next += kSize;
        return static_cast<void*>(taken);
    };
    session.measure("frame stream: 256 B, 100000 a frame, writes alone", kNanoseconds)
        .ours(frames_of(kLargeFrame, take, [&] { next = memory[++frame % 2]; }))
        .peer("pmr::monotonic", standard_library_version(),
              frames_of(
                  kLargeFrame, [&] { return monotonic.allocate(kSize); }, [&] { monotonic.swap(); }))
        .note("nothing of ours in it: the cost of the memory")
        .run();
}

void fill(FrameWriter& writer, std::uint64_t objects) {
    for (std::uint64_t i = 0; i < objects; ++i)
        keep(must(writer.allocate(16, 16), "allocate in a frame").data);
}

std::uint64_t read_all(MemoryBlock block) {
    constexpr std::size_t kLine = 64;
    std::uint64_t sum = 0;
    for (std::size_t at = 0; at < block.size; at += kLine)
        sum += static_cast<std::uint64_t>(static_cast<volatile std::byte&>(block.data[at]));
    return sum;
}

// So many swaps, each of a frame with so many objects, and each with an equally cold cache: the program has
// done other things meanwhile.
Work swaps_after(FrameStream& frames, FrameWriter& writer, std::uint64_t objects, MemoryBlock elsewhere) {
    return [&, objects, elsewhere](Round& round) {
        for (std::uint64_t i = 0; i < round.operations(); ++i) {
            fill(writer, objects);
            keep(read_all(elsewhere));
            round.time([&] { frames.swap(); });
        }
        round.check(objects);
    };
}

void measure_swap(Session& session, FrameStream& frames, MemoryBlock elsewhere) {
    FrameWriter writer = frames.add_writer();
    session.measure("frame stream: swap, again and again", kNanoseconds)
        .ours(repeat([&](std::uint64_t) { frames.swap(); }))
        .run();
    constexpr std::uint64_t kFew = 1'000;
    constexpr std::uint64_t kMany = 1'000'000;
    session.measure("frame stream: swap after 1,000,000 allocations", kNanoseconds)
        .ours(swaps_after(frames, writer, kMany, elsewhere))
        .peer("swap after 1,000", "our own", swaps_after(frames, writer, kFew, elsewhere))
        .bound("reading the clock twice", repeat([](std::uint64_t) { keep(os::monotonic_ns()); }))
        .different_results()
        .operations(16)
        .bar(ratio_at_most(1.5))
        .note("with the clock around each and a cold cache")
        .run();
}

}  // namespace

void measure_frame_streams(Session& session) {
    auto table = must(MemoryTable::create({.name = "bench table"}), "make a table");
    auto frames =
        must(FrameStream::create(table, {.frame_bytes = kFrameBytes,
                                         .decay_swaps = 0,
                                         .prewarm_bytes = session.sized(kFrameBytes, kFrameBytes / 8)}),
             "make frames");
    auto buffer = must(FrameAllocator::create({.max_bytes = 4 * kFrameBytes}), "make a buffer");
    std::byte* const bytes = must(buffer.allocate(4 * kFrameBytes, 16), "fill the buffer").data;
    must(os::prefault({bytes, session.sized(4 * kFrameBytes, kFrameBytes / 4)}), "prefault");
    for (const std::size_t size : {std::size_t{16}, std::size_t{64}, std::size_t{256}}) {
        measure_size(session, size, kSmallFrame, frames, {bytes, bytes + kFrameBytes});
        measure_size(session, size, kLargeFrame, frames, {bytes, bytes + kFrameBytes});
    }
    measure_bare_writes(session, {bytes + 2 * kFrameBytes, bytes + 3 * kFrameBytes},
                        {bytes, bytes + kFrameBytes});
    measure_swap(session, frames, {bytes, session.sized(kFrameBytes, kFrameBytes / 64)});
}

}  // namespace ouro::bench
