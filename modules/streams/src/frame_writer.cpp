#include <ouro/streams/frame_writer.hpp>

#include <algorithm>
#include <atomic>
#include <utility>

namespace ouro {
namespace {

using detail::FrameChunk;
using detail::kChunkHeadBytes;

std::uintptr_t address_of(const std::byte* place) noexcept {
    return reinterpret_cast<std::uintptr_t>(place);
}

// How large a chunk must be for a block, wherever its first line lies.
Expected<std::size_t> chunk_for(std::size_t size, std::size_t alignment) noexcept {
    const std::size_t skipped = alignment > kChunkHeadBytes ? alignment : 0;
    const auto body = checked_add(size, skipped);
    return body ? checked_add(*body, kChunkHeadBytes) : body;
}

}  // namespace

FrameWriter::FrameWriter(detail::FrameCore& core) noexcept : core_(&core) {
    core.writers.fetch_add(1, std::memory_order_relaxed);
}

FrameWriter::FrameWriter(FrameWriter&& other) noexcept
    : MemoryResource(other),
      cursor_(std::exchange(other.cursor_, 0)),
      limit_(std::exchange(other.limit_, 0)),
      core_(std::exchange(other.core_, nullptr)),
      frame_(other.frame_),
      allocations_(other.allocations_),
      told_allocations_(other.told_allocations_),
      chunks_taken_(other.chunks_taken_),
      failures_(other.failures_),
      peak_bytes_(other.peak_bytes_),
      begin_(other.begin_),
      used_before_(other.used_before_),
      first_(std::exchange(other.first_, nullptr)),
      chunk_(std::exchange(other.chunk_, nullptr)) {}

FrameWriter::~FrameWriter() {
    if (core_ == nullptr) return;
    tell_counts();
    core_->writers.fetch_sub(1, std::memory_order_release);
}

void FrameWriter::tell_counts() noexcept {
    const std::uint64_t news = allocations_ - std::exchange(told_allocations_, allocations_);
    if (news == 0) return;
    core().allocations.fetch_add(news, std::memory_order_relaxed);
    core().chunks_taken.fetch_add(std::exchange(chunks_taken_, 0), std::memory_order_relaxed);
}

void FrameWriter::enter_current_frame() noexcept {
    const std::uint64_t now = core().frame.load(std::memory_order_acquire);
    if (frame_ == now) return;
    tell_counts();
    // What it had belongs to another frame, which may be gone: nothing of it is looked at.
    frame_ = now;
    first_ = chunk_ = nullptr;
    cursor_ = limit_ = 0;
}

void FrameWriter::move_into(FrameChunk* chunk) noexcept {
    chunk_ = chunk;
    begin_ = cursor_ = address_of(chunk->begin());
    used_before_ = chunk->used_before;
    limit_ = address_of(chunk->end);
}

Status FrameWriter::enter_chunk(std::size_t bytes) noexcept {
    if (chunk_ != nullptr) chunk_->used_end = reinterpret_cast<std::byte*>(cursor_);
    FrameChunk* const left = chunk_ != nullptr ? chunk_->next : nullptr;
    const std::size_t used = used_bytes();
    if (left != nullptr && static_cast<std::size_t>(left->end - left->begin()) >= bytes - kChunkHeadBytes) {
        left->used_before = used;
        move_into(left);
        return Status::ok;
    }
    const auto taken = core().take_chunk(frame_, bytes);
    if (!taken) return taken.status();
    ++chunks_taken_;
    // Where nobody else took any meanwhile, the chunk simply grows, and nothing at its end is lost.
    if (chunk_ != nullptr && left == nullptr && taken->data == chunk_->end) {
        chunk_->end = taken->end();
        limit_ = address_of(chunk_->end);
        return Status::ok;
    }
    annotate::permit({taken->data, kChunkHeadBytes});
    auto* const fresh = std::construct_at(reinterpret_cast<FrameChunk*>(taken->data));
    fresh->next = left;
    fresh->end = taken->end();
    fresh->used_before = used;
    (chunk_ != nullptr ? chunk_->next : first_) = fresh;
    move_into(fresh);
    return Status::ok;
}

Expected<MemoryBlock> FrameWriter::allocate_slow(std::size_t size, std::size_t alignment) noexcept {
    Status status = check_allocation(size, alignment);
    const auto bytes = chunk_for(size, alignment);
    if (status == Status::ok) status = bytes.status();
    if (status == Status::ok) {
        enter_current_frame();
        note_peak();
        const std::uintptr_t start = (cursor_ + (alignment - 1)) & ~(alignment - 1);
        const bool fits = chunk_ != nullptr && start >= cursor_ && start <= limit_ && size <= limit_ - start;
        if (!fits) status = enter_chunk(*bytes);
    }
    if (status == Status::ok) {
        const std::uintptr_t start = (cursor_ + (alignment - 1)) & ~(alignment - 1);
        cursor_ = start + size;
        ++allocations_;
        const MemoryBlock block{reinterpret_cast<std::byte*>(start), size};
        annotate::permit(block);
        return block;
    }
    ++failures_;
    core().failures.fetch_add(1, std::memory_order_relaxed);
    return status;
}

Expected<MemoryBlock> FrameWriter::resize(MemoryBlock newest, std::size_t new_size) noexcept {
    const std::uintptr_t start = address_of(newest.data);
    if (new_size > limit_ - start) return Status::capacity_exhausted;
    const MemoryBlock resized{newest.data, new_size};
    if (new_size < newest.size) annotate::forbid({newest.data + new_size, newest.size - new_size});
    annotate::permit(resized);
    note_peak();
    cursor_ = start + new_size;
    return resized;
}

Expected<MemoryBlock> FrameWriter::reallocate(MemoryBlock block, std::size_t new_size,
                                              std::size_t alignment) noexcept {
    const Status asked = check_allocation(new_size, alignment);
    if (asked != Status::ok) return asked;
    note_allocation();
    // What stays in place stays in its frame.
    if (is_newest(block) && is_current()) {
        if (const auto resized = resize(block, new_size)) return resized;
    }
    if (!block.is_null() && new_size <= block.size) return MemoryBlock{block.data, new_size};
    return move_to_new_block(*this, block, new_size, alignment);
}

Expected<MemoryBlock> FrameWriter::try_resize(MemoryBlock block, std::size_t new_size,
                                              std::size_t alignment) noexcept {
    const Status asked = check_allocation(new_size, alignment);
    if (asked != Status::ok) return asked;
    OURO_DEBUG_ASSERT(!block.is_null(), "nothing can be resized in place");
    if (new_size > block.size) note_allocation();
    if (is_newest(block) && is_current()) return resize(block, new_size);
    if (new_size > block.size) return Status::capacity_exhausted;
    return MemoryBlock{block.data, new_size};
}

FrameWriter::Marker FrameWriter::mark() const noexcept {
    const std::uint64_t now = core().frame.load(std::memory_order_acquire);
    if (frame_ != now) return {.frame = now};
    return {.frame = now, .chunk = chunk_, .cursor = cursor_};
}

void FrameWriter::rewind(Marker marker) noexcept {
    if (marker.frame != frame_ || !is_current() || first_ == nullptr) return;
    note_peak();
    FrameChunk* const target = marker.chunk != nullptr ? marker.chunk : first_;
    const std::uintptr_t cursor = marker.chunk != nullptr ? marker.cursor : address_of(first_->begin());
    OURO_ASSERT(target != chunk_ || cursor <= cursor_, "the marker is of memory that was freed already");
    if constexpr (annotate::kActive) {
        chunk_->used_end = reinterpret_cast<std::byte*>(cursor_);
        for (FrameChunk* chunk = target; chunk != chunk_->next; chunk = chunk->next) {
            std::byte* const from = chunk == target ? reinterpret_cast<std::byte*>(cursor) : chunk->begin();
            annotate::forbid({from, static_cast<std::size_t>(chunk->used_end - from)});
        }
    }
    move_into(target);
    cursor_ = cursor;
}

Expected<ResourceMark> FrameWriter::place_mark() noexcept {
    const Marker marker = mark();
    ResourceMark mark{.used_bytes = marker.cursor,
                      .live_blocks = reinterpret_cast<std::uintptr_t>(marker.chunk)};
    static_cast<void>(mark.push({.blocks = marker.frame}));
    return mark;
}

void FrameWriter::free_since(ResourceMark mark) noexcept {
    rewind({.frame = mark.pop().blocks,
            .chunk = reinterpret_cast<FrameChunk*>(mark.live_blocks),
            .cursor = mark.used_bytes});
}

bool FrameWriter::owns(const void* address) const noexcept {
    if (!is_current()) return false;
    for (FrameChunk* chunk = first_; chunk != nullptr; chunk = chunk->next) {
        const MemoryBlock body{chunk->begin(), static_cast<std::size_t>(chunk->end - chunk->begin())};
        if (body.contains(address)) return true;
    }
    return false;
}

ResourceInfo FrameWriter::info() const noexcept {
    return {.name = core().halves[0].stream.name(),
            .thread_safety = ThreadSafety::single_thread,
            .frees_blocks = false};
}

ResourceStats FrameWriter::stats() const noexcept {
    ResourceStats stats{.peak_bytes = peak_bytes_, .allocations = allocations_, .failures = failures_};
    if (!is_current()) return stats;
    stats.live_bytes = used_bytes();
    stats.peak_bytes = std::max(stats.peak_bytes, stats.live_bytes);
    for (FrameChunk* chunk = first_; chunk != nullptr; chunk = chunk->next)
        stats.reserved_bytes += static_cast<std::size_t>(chunk->end - chunk->begin());
    stats.committed_bytes = stats.reserved_bytes;
    return stats;
}

Status FrameWriter::check() const noexcept {
    if (!is_current()) return Status::ok;
    if (first_ == nullptr) return chunk_ == nullptr && limit_ == 0 ? Status::ok : Status::corrupt_data;
    const detail::FrameHalf& half = core().half_of(frame_);
    const MemoryBlock used = half.stream.range().sub(0, half.cursor_bytes.load(std::memory_order_acquire));
    std::size_t used_before = 0;
    bool has_current = false;
    for (FrameChunk* chunk = first_; chunk != nullptr; chunk = chunk->next) {
        auto* const start = reinterpret_cast<std::byte*>(chunk);
        if (!used.contains(start) || chunk->end <= start || chunk->end > used.end())
            return Status::corrupt_data;
        has_current |= chunk == chunk_;
        // Those behind the current one are free.
        if (has_current) continue;
        if (chunk->used_end < chunk->begin() || chunk->used_end > chunk->end) return Status::corrupt_data;
        used_before += static_cast<std::size_t>(chunk->used_end - chunk->begin());
    }
    if (used_before != used_before_) return Status::corrupt_data;
    const bool is_bounded = has_current && cursor_ >= address_of(chunk_->begin()) && cursor_ <= limit_ &&
                            limit_ == address_of(chunk_->end);
    return is_bounded ? Status::ok : Status::corrupt_data;
}

}  // namespace ouro
