#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/streams/frame_writer.hpp>
#include <ouro/streams/memory_table.hpp>
#include <ouro/streams/stream_refusal.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ouro {

// Memory for what lives one frame and is looked at for one more: bump allocation into one of two buffers,
// while the other holds the last frame, unchanged, for whoever draws it. A swap exchanges the two in one
// step, however much was allocated.
//
//     auto frames = FrameStream::create(table, {.name = "frames"});
//     FrameWriter writer = frames->add_writer();          // one a thread
//     auto commands = writer.make_span<DrawCommand>(500);
//     frames->swap();                                     // commands stay readable
//     frames->swap();                                     // and are gone
//
// Each thread allocates through a FrameWriter of its own, which takes chunks from the frame with one atomic
// step and cuts blocks from them without any. A writer that is used again after a swap, or after many,
// notices by the frame's number.
//
// One thread swaps. Threads may be allocating meanwhile: what they get around that moment is of the frame
// before or of the one after. Between two swaps, though, each writer that is used must have come to the end
// of what it does, and who reads the last frame must have got it from its writers in an orderly way: the
// barrier at which a program ends its frame is enough for both.
//
// Dead frames are poisoned for sanitizers; builds with debug asserts also fill them with kDeadByte, for which
// their swaps take time.
class FrameStream final {
public:
    static constexpr unsigned char kDeadByte = 0xDD;

    struct Options {
        std::string_view name = "frames";
        // Untagged stands for "frame streams".
        Tag tag = {};
        // The most that one frame can hold; twice as much is reserved.
        std::size_t frame_bytes = std::size_t{1} << 30;
        // What a writer takes at once: more for fewer steps on shared memory, less for less that is left over
        // at each writer's end. At least kMinChunkBytes.
        std::size_t chunk_bytes = std::size_t{128} << 10;
        std::size_t commit_step_bytes = std::size_t{256} << 10;
        // After this many swaps, memory beyond one and a half of the highest use within them goes back to the
        // system; 0: never.
        std::uint32_t decay_swaps = 128;
        // So much of each buffer is in memory from the beginning, and stays.
        std::size_t prewarm_bytes = 0;
    };
    static constexpr std::size_t kMinChunkBytes = 1024;

    struct Stats {
        // The number of the current frame; the first is 1.
        std::uint64_t frame = 0;
        // Taken by writers, in whole chunks: of this frame, of the last, and of the largest ever.
        std::size_t used_bytes = 0;
        std::size_t last_used_bytes = 0;
        std::size_t high_water_bytes = 0;
        // Of both buffers.
        std::size_t reserved_bytes = 0;
        std::size_t committed_bytes = 0;
        std::uint64_t failures = 0;
        // Writers tell of these when they meet a new frame, and when they end.
        std::uint64_t allocations = 0;
        std::uint64_t chunks_taken = 0;
        std::uint32_t writers = 0;
    };

    // On two streams of the table, which must live longer. Fails as MemoryTable::open_stream and
    // Stream::prewarm do, and with bad_argument (a chunk that is too small or larger than a frame).
    [[nodiscard]] static Expected<FrameStream> create(MemoryTable& table, const Options& options) noexcept;

    FrameStream(FrameStream&& other) noexcept;
    FrameStream& operator=(FrameStream&& other) noexcept;
    // Requires: its writers have ended (assert).
    ~FrameStream();

    // For the use of one thread at a time. From any thread.
    [[nodiscard]] FrameWriter add_writer() noexcept { return FrameWriter(core()); }

    // Ends the frame: it becomes the last one, and what was the last one is gone.
    void swap() noexcept;

    [[nodiscard]] std::uint64_t frame() const noexcept {
        return core().frame.load(std::memory_order_acquire);
    }
    // Whether the address lies in what writers took of the current frame, or of the last.
    [[nodiscard]] bool is_in_current_frame(const void* address) const noexcept;
    [[nodiscard]] bool is_in_last_frame(const void* address) const noexcept;

    [[nodiscard]] Stats stats() const noexcept;
    // What was refused last: the stream's name is that of the buffer it happened in. Its status is ok when
    // nothing ever was.
    [[nodiscard]] StreamRefusal last_refusal() const noexcept;
    // ok, or corrupt_data. No writer may be in use meanwhile.
    [[nodiscard]] Status check() const noexcept;

private:
    FrameStream(detail::FrameCore* core, const Options& options) noexcept
        : core_(core), decay_swaps_(options.decay_swaps), kept_bytes_(options.prewarm_bytes) {}
    void end() noexcept;
    [[nodiscard]] detail::FrameCore& core() const noexcept {
        OURO_ASSERT(core_ != nullptr, "the frame stream was moved from");
        return *core_;
    }
    void bury(detail::FrameHalf& half, std::size_t used_bytes) noexcept;
    void decay(detail::FrameHalf& half) noexcept;

    detail::FrameCore* core_ = nullptr;
    std::uint32_t decay_swaps_ = 0;
    std::uint32_t swaps_since_decay_ = 0;
    std::size_t recent_peak_bytes_ = 0;
    // What no decay gives back.
    std::size_t kept_bytes_ = 0;
};

}  // namespace ouro
