#pragma once

#include <ouro/base/align.hpp>
#include <ouro/base/expected.hpp>
#include <ouro/memory/detail/word_lock.hpp>
#include <ouro/streams/stream.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ouro::detail {

// Parts of a frame that threads write to begin on lines of their own.
inline constexpr std::size_t kFrameLineBytes = 64;

// At the front of each chunk that a writer took: the chunks of one writer in one frame, in the order of use.
// Those behind the current one were left by a rewind, and are used again.
struct FrameChunk {
    FrameChunk* next;
    std::byte* end;
    // Where the cursor was when the writer went on to the next chunk.
    std::byte* used_end;
    // What it used of the chunks before this one.
    std::size_t used_before;

    [[nodiscard]] std::byte* begin() noexcept;
};

inline constexpr std::size_t kChunkHeadBytes = 32;
static_assert(sizeof(FrameChunk) <= kChunkHeadBytes && kChunkHeadBytes % 16 == 0);

inline std::byte* FrameChunk::begin() noexcept {
    return reinterpret_cast<std::byte*>(this) + kChunkHeadBytes;
}

// One of the two buffers.
struct alignas(kFrameLineBytes) FrameHalf {
    // From the stream's front; moved by all writers.
    std::atomic<std::size_t> cursor_bytes = 0;
    // What of the stream can be used, for writers that do not hold the lock.
    std::atomic<std::size_t> committed_bytes = 0;
    // Under the lock.
    Stream stream;
};

// What writers share. Lies at the front of the first half, so that writers find it wherever the FrameStream
// goes.
struct FrameCore {
    // Read by every allocation, written by swaps only.
    alignas(kFrameLineBytes) std::atomic<std::uint64_t> frame = 1;
    std::size_t chunk_bytes = 0;
    alignas(kFrameLineBytes) WordLock growing;
    std::array<FrameHalf, 2> halves;
    std::atomic<std::uint64_t> allocations = 0;
    std::atomic<std::uint64_t> failures = 0;
    std::atomic<std::uint64_t> chunks_taken = 0;
    std::atomic<std::uint32_t> writers = 0;

    [[nodiscard]] FrameHalf& half_of(std::uint64_t number) noexcept { return halves[number & 1U]; }

    // A piece of a frame, at least `least_bytes` and about chunk_bytes, on a line of its own. Fails as
    // Stream::grow does.
    [[nodiscard]] Expected<MemoryBlock> take_chunk(std::uint64_t number, std::size_t least_bytes) noexcept;
};

// Where frames begin in both halves.
inline constexpr std::size_t kFrameFrontBytes = align_up(sizeof(FrameCore), kFrameLineBytes);

}  // namespace ouro::detail
