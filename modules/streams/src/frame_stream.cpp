#include <ouro/memory/annotations.hpp>
#include <ouro/streams/frame_stream.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <utility>

namespace ouro {
namespace {

using detail::FrameCore;
using detail::FrameHalf;
using detail::kFrameFrontBytes;

constexpr bool kFillsDeadFrames = OURO_ASSERT_LEVEL >= 1;

Expected<Stream> open_half(MemoryTable& table, const FrameStream::Options& options) noexcept {
    const auto bytes = checked_add(options.frame_bytes, kFrameFrontBytes);
    if (!bytes) return bytes.status();
    auto stream = table.open_stream({.name = options.name,
                                     .tag = tag_or(options.tag, "frame streams"),
                                     .reserve_bytes = *bytes,
                                     .commit_step_bytes = options.commit_step_bytes});
    if (!stream) return stream.status();
    const auto ready = options.prewarm_bytes != 0 ? stream->prewarm(kFrameFrontBytes + options.prewarm_bytes)
                                                  : stream->grow(kFrameFrontBytes);
    if (!ready) return ready.status();
    stream->note_cursor(kFrameFrontBytes, kFrameFrontBytes);
    stream->publish();
    stream->tell_sanitizers();
    return stream;
}

void set_up_half(FrameHalf& half, Stream stream) noexcept {
    half.cursor_bytes.store(kFrameFrontBytes, std::memory_order_relaxed);
    half.committed_bytes.store(stream.committed_bytes(), std::memory_order_relaxed);
    half.stream = std::move(stream);
}

bool is_used_part(const FrameHalf& half, const void* address) noexcept {
    const std::size_t cursor = half.cursor_bytes.load(std::memory_order_acquire);
    return half.stream.range().sub(kFrameFrontBytes, cursor - kFrameFrontBytes).contains(address);
}

}  // namespace

Expected<MemoryBlock> FrameCore::take_chunk(std::uint64_t number, std::size_t least_bytes) noexcept {
    FrameHalf& half = half_of(number);
    const MemoryBlock whole = half.stream.range();
    std::size_t from = half.cursor_bytes.load(std::memory_order_relaxed);
    for (;;) {
        const std::size_t room = whole.size - from;
        // The last chunk is what is left.
        const std::size_t wanted = std::max(least_bytes, std::min(chunk_bytes, room));
        if (wanted > room) {
            const WordLockScope scope(growing);
            const std::size_t end = least_bytes <= ~from ? from + least_bytes : ~std::size_t{0};
            return half.stream.refuse(Status::capacity_exhausted, end);
        }
        const std::size_t to = std::min(align_up(from + wanted, kFrameLineBytes), whole.size);
        if (to > half.committed_bytes.load(std::memory_order_acquire)) {
            const WordLockScope scope(growing);
            if (const auto grown = half.stream.grow(to); !grown) return grown.status();
            half.committed_bytes.store(half.stream.committed_bytes(), std::memory_order_release);
        }
        if (half.cursor_bytes.compare_exchange_weak(from, to, std::memory_order_acq_rel)) {
            return whole.sub(from, to - from);
        }
    }
}

Expected<FrameStream> FrameStream::create(MemoryTable& table, const Options& options) noexcept {
    if (options.frame_bytes == 0) return Status::zero_size;
    if (options.chunk_bytes < kMinChunkBytes || options.chunk_bytes > options.frame_bytes)
        return Status::bad_argument;
    if (options.prewarm_bytes > options.frame_bytes) return Status::capacity_exhausted;
    auto first = open_half(table, options);
    if (!first) return first.status();
    auto second = open_half(table, options);
    if (!second) return second.status();
    auto* const core = std::construct_at(reinterpret_cast<FrameCore*>(first->range().data));
    core->chunk_bytes = options.chunk_bytes;
    set_up_half(core->halves[0], *std::move(first));
    set_up_half(core->halves[1], *std::move(second));
    return FrameStream(core, options);
}

FrameStream::FrameStream(FrameStream&& other) noexcept
    : core_(std::exchange(other.core_, nullptr)),
      decay_swaps_(other.decay_swaps_),
      swaps_since_decay_(other.swaps_since_decay_),
      recent_peak_bytes_(other.recent_peak_bytes_),
      kept_bytes_(other.kept_bytes_) {}

FrameStream& FrameStream::operator=(FrameStream&& other) noexcept {
    if (this != &other) {
        std::destroy_at(this);
        std::construct_at(this, std::move(other));
    }
    return *this;
}

FrameStream::~FrameStream() {
    end();
}

void FrameStream::end() noexcept {
    if (core_ == nullptr) return;
    OURO_ASSERT(core_->writers.load(std::memory_order_acquire) == 0, "a frame stream ends after its writers");
    // The core lies in the first of them.
    const Stream first = std::move(core_->halves[0].stream);
    const Stream second = std::move(core_->halves[1].stream);
    std::destroy_at(std::exchange(core_, nullptr));
}

void FrameStream::bury(FrameHalf& half, std::size_t used_bytes) noexcept {
    const MemoryBlock dead = half.stream.range().sub(kFrameFrontBytes, used_bytes - kFrameFrontBytes);
    if constexpr (kFillsDeadFrames) {
        annotate::permit(dead);
        std::memset(dead.data, kDeadByte, dead.size);
    }
    annotate::forbid(dead);
}

void FrameStream::swap() noexcept {
    const std::uint64_t ending = core().frame.load(std::memory_order_relaxed);
    FrameHalf& ended = core().half_of(ending);
    FrameHalf& next = core().half_of(ending + 1);
    const detail::WordLockScope scope(core().growing);
    // A writer may have added to it while it was the last frame.
    const std::size_t dead_bytes = next.cursor_bytes.load(std::memory_order_acquire);
    const std::size_t ended_bytes = ended.cursor_bytes.load(std::memory_order_acquire);
    recent_peak_bytes_ = std::max({recent_peak_bytes_, dead_bytes, ended_bytes});
    bury(next, dead_bytes);
    next.stream.note_cursor(kFrameFrontBytes, dead_bytes);
    ended.stream.note_cursor(ended_bytes, ended_bytes);
    ended.stream.publish();
    if (decay_swaps_ != 0 && ++swaps_since_decay_ >= decay_swaps_) decay(next);
    next.cursor_bytes.store(kFrameFrontBytes, std::memory_order_release);
    // From here on writers use it.
    core().frame.store(ending + 1, std::memory_order_release);
}

// Keeps what the busiest of the recent frames used, and half as much again: frames rarely repeat to the byte.
// The other buffer's turn is the next swap, when its frame is gone.
void FrameStream::decay(FrameHalf& half) noexcept {
    const std::size_t wanted = recent_peak_bytes_ + recent_peak_bytes_ / 2;
    half.stream.shrink(std::max(wanted, kFrameFrontBytes + kept_bytes_));
    half.committed_bytes.store(half.stream.committed_bytes(), std::memory_order_release);
    if (swaps_since_decay_ == decay_swaps_) return;
    swaps_since_decay_ = 0;
    recent_peak_bytes_ = 0;
}

bool FrameStream::is_in_current_frame(const void* address) const noexcept {
    return is_used_part(core().half_of(frame()), address);
}

bool FrameStream::is_in_last_frame(const void* address) const noexcept {
    return is_used_part(core().half_of(frame() + 1), address);
}

FrameStream::Stats FrameStream::stats() const noexcept {
    Stats stats{.frame = frame(),
                .failures = core().failures.load(std::memory_order_relaxed),
                .allocations = core().allocations.load(std::memory_order_relaxed),
                .chunks_taken = core().chunks_taken.load(std::memory_order_relaxed),
                .writers = core().writers.load(std::memory_order_relaxed)};
    const auto used_in = [](const FrameHalf& half) {
        return half.cursor_bytes.load(std::memory_order_acquire) - kFrameFrontBytes;
    };
    stats.used_bytes = used_in(core().half_of(stats.frame));
    stats.last_used_bytes = used_in(core().half_of(stats.frame + 1));
    stats.high_water_bytes = std::max(stats.used_bytes, stats.last_used_bytes);
    const detail::WordLockScope scope(core().growing);
    for (const FrameHalf& half : core().halves) {
        const std::size_t highest = half.stream.high_water_bytes() - kFrameFrontBytes;
        stats.high_water_bytes = std::max(stats.high_water_bytes, highest);
        stats.reserved_bytes += half.stream.reserved_bytes();
        stats.committed_bytes += half.stream.committed_bytes();
    }
    return stats;
}

StreamRefusal FrameStream::last_refusal() const noexcept {
    const detail::WordLockScope scope(core().growing);
    const StreamRefusal& even = core().halves[0].stream.last_refusal();
    const StreamRefusal& odd = core().halves[1].stream.last_refusal();
    return even.number > odd.number ? even : odd;
}

Status FrameStream::check() const noexcept {
    const detail::WordLockScope scope(core().growing);
    for (const FrameHalf& half : core().halves) {
        const std::size_t cursor = half.cursor_bytes.load(std::memory_order_acquire);
        const std::size_t committed = half.committed_bytes.load(std::memory_order_acquire);
        const bool is_sound = cursor >= kFrameFrontBytes && cursor <= committed &&
                              committed == half.stream.committed_bytes() &&
                              committed <= half.stream.reserved_bytes();
        if (!is_sound) return Status::corrupt_data;
    }
    return frame() != 0 && core().chunk_bytes >= kMinChunkBytes ? Status::ok : Status::corrupt_data;
}

}  // namespace ouro
