// Blocks too large for slots, and all blocks where each has a guard: runs of whole spans.
#include <ouro/base/bits.hpp>
#include <ouro/memory/partition.hpp>
#include <ouro/memory/seal.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <algorithm>
#include <utility>

namespace ouro {

using partition::kSpanBytes;
using partition::Span;
using partition::SpanKind;

namespace {

// Where a block lies in its run: in pages with memory, which a guard may follow.
struct Place {
    std::size_t committed_bytes = 0;
    std::size_t offset = 0;
    std::size_t block_bytes = 0;
    std::size_t spans = 0;
};

Expected<Place> place_block(std::size_t size, std::size_t alignment, PartitionGuards guards) noexcept {
    // At the end of its pages, so that the first byte behind it is the guard's.
    const bool at_end = guards == PartitionGuards::blocks && alignment <= os::page_size();
    const auto block = checked_align_up(size, at_end ? alignment : os::page_size());
    if (!block) return block.status();
    const auto committed = checked_align_up(*block, os::page_size());
    if (!committed) return committed.status();
    const auto all = checked_add(*committed, guards == PartitionGuards::none ? 0 : os::page_size());
    if (!all) return all.status();
    return Place{*committed, *committed - *block, *block, units_of(*all, kSpanBytes)};
}

}  // namespace

Expected<MemoryBlock> Partition::allocate_large(std::size_t size, std::size_t alignment) noexcept {
    auto place = place_block(size, alignment, guards_);
    if (!place) return place.status();
    const auto first = choose_run(place->spans, place->committed_bytes, alignment);
    if (!first) return first.status();
    const auto committed = commit_run(*first, place->committed_bytes);
    if (!committed) return committed.status();
    // Memory that was kept may be more than was asked.
    place->block_bytes += *committed - place->committed_bytes;
    std::byte* begin = base_ + std::size_t{*first} * kSpanBytes;
    claim_run(*first, place->spans);
    Span& span = spans_[*first];
    span.begin = begin;
    span.kind = SpanKind::large;
    span.block_offset = place->offset;
    span.block_bytes = place->block_bytes;
    ++allocations_;
    add_live(place->block_bytes);
    const MemoryBlock block{begin + place->offset, place->block_bytes};
    annotate::allocated(this, block);
    return block;
}

void Partition::free_large(Span& span) noexcept {
    ++frees_;
    live_bytes_ -= span.block_bytes;
    annotate::freed(this, {span.begin + span.block_offset, span.block_bytes});
    const MemoryBlock pages{span.begin, span.block_offset + span.block_bytes};
    // Guards need their pages back: there freed memory goes, sealed or not.
    if (commits_ && is_sealed() && guards_ == PartitionGuards::none) {
        keep_memory(span, pages.size);
    } else {
        give_back(pages);
    }
    release_run(index_of(span), span.run_spans);
}

void Partition::give_back(MemoryBlock pages) noexcept {
    if (decommit(pages) == Status::ok) return;
    // The system has no mapping to spare for the hole: the memory goes back all the same.
    [[maybe_unused]] const auto discarded = os::discard(pages);
    annotate::permit_written(pages);
    committed_bytes_ -= pages.size;
}

// Changes the number of pages in place, with the spans behind them where those are free.
Expected<MemoryBlock> Partition::resize_large(Span& span, std::size_t new_size) noexcept {
    if (guards_ == PartitionGuards::blocks || new_size <= partition::kMaxSlotBytes)
        return Status::not_supported;
    const auto place = place_block(new_size, 1, guards_);
    if (!place) return place.status();
    const std::uint32_t first = index_of(span);
    const std::size_t old_spans = span.run_spans;
    const std::size_t old_bytes = span.block_bytes;
    if (place->spans > old_spans) {
        const std::size_t more = place->spans - old_spans;
        if (free_run_length(first + old_spans, more) != more) return Status::capacity_exhausted;
    }
    if (place->block_bytes > old_bytes) {
        // Whether the spans behind still have memory is not looked at.
        if (kept_bytes_ != 0) {
            const Status growth = check_unsealed();
            if (growth != Status::ok) return growth;
            drop_kept();
        }
        const Status committed = commit({span.begin + old_bytes, place->block_bytes - old_bytes});
        if (committed != Status::ok) return committed;
        add_live(place->block_bytes - old_bytes);
    } else if (place->block_bytes < old_bytes) {
        if (commits_ && is_sealed()) return MemoryBlock{span.begin, old_bytes};
        const Status cut = decommit({span.begin + place->block_bytes, old_bytes - place->block_bytes});
        if (cut != Status::ok) return cut;
        live_bytes_ -= old_bytes - place->block_bytes;
    }
    annotate::resized(this, {span.begin, old_bytes}, {span.begin, place->block_bytes});
    if (place->block_bytes < old_bytes && commits_)
        annotate::permit_written({span.begin + place->block_bytes, old_bytes - place->block_bytes});
    if (place->spans < old_spans)
        release_run(static_cast<std::uint32_t>(first + place->spans), old_spans - place->spans);
    claim_run(first, place->spans);
    span.kind = SpanKind::large;
    span.block_bytes = place->block_bytes;
    return MemoryBlock{span.begin, span.block_bytes};
}

Expected<std::uint32_t> Partition::choose_run(std::size_t count, std::size_t bytes,
                                              std::size_t alignment) noexcept {
    // Under a seal no other memory is to be had.
    if (kept_bytes_ != 0 && is_sealed()) {
        const auto kept = find_kept_run(bytes, alignment);
        if (kept) return kept;
    }
    const auto first = find_run(count, alignment);
    // Spans without a block in use may lie where a long run could.
    return !first && reclaim() ? find_run(count, alignment) : first;
}

// Where least memory is left over in the last span, which goes with the run; then in the smallest stretch of
// kept memory, so that the longer ones stay whole for blocks that need them. Only the last span of a stretch
// has memory at its front alone.
Expected<std::uint32_t> Partition::find_kept_run(std::size_t bytes, std::size_t alignment) const noexcept {
    const std::size_t total = bytes_ / kSpanBytes;
    const std::size_t count = units_of(bytes, kSpanBytes);
    Expected<std::uint32_t> best = Status::capacity_exhausted;
    std::pair<std::size_t, std::size_t> best_fit;
    for (std::size_t first = 0, end = 0; first < total; first = end) {
        std::size_t kept = 0;
        for (end = first; end < total && kept == (end - first) * kSpanBytes; ++end)
            kept += spans_[end].kept_bytes;
        if (kept < bytes) continue;
        const std::size_t most_skipped = units_of(kept, kSpanBytes) - count;
        const std::size_t unaligned = padding_to(base_ + first * kSpanBytes, alignment) / kSpanBytes;
        for (const std::size_t skipped : {std::min(unaligned, most_skipped), most_skipped}) {
            const std::size_t given = std::min(kept - skipped * kSpanBytes, count * kSpanBytes);
            if (given < bytes || !is_aligned(base_ + (first + skipped) * kSpanBytes, alignment)) continue;
            const std::pair fit(given - bytes, kept);
            if (best && fit >= best_fit) continue;
            best = static_cast<std::uint32_t>(first + skipped);
            best_fit = fit;
        }
    }
    return best;
}

Expected<std::uint32_t> Partition::find_run(std::size_t count, std::size_t alignment) const noexcept {
    const std::size_t total = bytes_ / kSpanBytes;
    std::size_t first = find_set_bit(unused_spans_);
    while (first < total && count <= total - first) {
        const std::size_t skipped = padding_to(base_ + first * kSpanBytes, alignment);
        if (skipped >= bytes_) break;
        first += skipped / kSpanBytes;
        const std::size_t length = free_run_length(first, count);
        if (length == count) return static_cast<std::uint32_t>(first);
        first = find_set_bit(unused_spans_, first + length + 1);
    }
    return Status::capacity_exhausted;
}

std::size_t Partition::free_run_length(std::size_t first, std::size_t most) const noexcept {
    const std::size_t total = bytes_ / kSpanBytes;
    std::size_t length = 0;
    while (length < most && first + length < total && test_bit(unused_spans_, first + length))
        ++length;
    return length;
}

Expected<std::size_t> Partition::commit_run(std::uint32_t first, std::size_t bytes) noexcept {
    const std::size_t end = first + units_of(bytes, kSpanBytes);
    std::size_t kept = 0;
    bool is_front = kept_bytes_ != 0;
    for (std::size_t index = first; index < end && kept_bytes_ != 0; ++index) {
        kept += spans_[index].kept_bytes;
        is_front = is_front && (index + 1 == end || spans_[index].kept_bytes == kSpanBytes);
    }
    if (is_front && kept >= bytes) {
        for (std::size_t index = first; index < end; ++index)
            spans_[index].kept_bytes = 0;
        kept_bytes_ -= kept;
        return kept;
    }
    if (kept != 0) {
        const Status growth = check_unsealed();
        if (growth != Status::ok) return growth;
        drop_kept();
    }
    const Status committed = commit({base_ + std::size_t{first} * kSpanBytes, bytes});
    if (committed != Status::ok) return committed;
    return bytes;
}

void Partition::keep_memory(Span& span, std::size_t bytes) noexcept {
    kept_bytes_ += bytes;
    for (Span* each = &span; bytes != 0; ++each) {
        each->kept_bytes = std::min(bytes, kSpanBytes);
        bytes -= each->kept_bytes;
    }
}

void Partition::drop_kept() noexcept {
    for (std::size_t index = 0; kept_bytes_ != 0; ++index) {
        const MemoryBlock pages{base_ + index * kSpanBytes, std::exchange(spans_[index].kept_bytes, 0)};
        kept_bytes_ -= pages.size;
        if (pages.size != 0) give_back(pages);
    }
}

void Partition::claim_run(std::uint32_t first, std::size_t count) noexcept {
    for (std::size_t index = first; index < first + count; ++index) {
        clear_bit(unused_spans_, index);
        spans_[index].kind = SpanKind::continuation;
    }
    spans_[first].run_spans = static_cast<std::uint32_t>(count);
}

void Partition::release_run(std::uint32_t first, std::size_t count) noexcept {
    for (std::size_t index = first; index < first + count; ++index) {
        set_bit(unused_spans_, index);
        spans_[index].kind = SpanKind::unused;
    }
}

}  // namespace ouro
