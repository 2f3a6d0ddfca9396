#include "partition_lock.hpp"

#include <ouro/base/bits.hpp>
#include <ouro/memory/detail/block_assert.hpp>
#include <ouro/memory/partition.hpp>
#include <ouro/memory/seal.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <algorithm>
#include <utility>

namespace ouro {

using partition::Cache;
using partition::kClassBytes;
using partition::kClassCount;
using partition::kNoSpan;
using partition::kSpanBytes;
using partition::Span;
using partition::SpanKind;

Partition::Partition(const PartitionOptions& options, const Site& site) noexcept
    : base_(site.addresses.data),
      bytes_(site.addresses.size),
      spans_(site.spans),
      is_shared_(options.thread_safety != ThreadSafety::single_thread),
      commits_(site.commits),
      guards_(options.guards),
      keep_empty_count_(options.keep_empty_bytes / kSpanBytes),
      listing_({.name = options.name,
                .tag = options.tag,
                .kind = site.commits ? BlockKind::own : BlockKind::borrowed,
                .base = site.addresses.data,
                .reserved_bytes = site.addresses.size}),
      unused_spans_(site.unused_spans),
      name_(options.name) {
    if (is_shared_) lock_.emplace();
    partial_.fill(kNoSpan);
    for (std::uint32_t index = 0; index < kClassCount && guards_ != PartitionGuards::blocks; ++index) {
        caches_[index].limit =
            std::clamp(Cache::kBytes / kClassBytes[index], Cache::kLeastSlots, Cache::kMostSlots);
    }
    set_bits(unused_spans_, 0, bytes_ / kSpanBytes);
    annotate::pool_created(this, commits_ ? MemoryBlock{} : addresses());
}

Partition::Partition(const PartitionOptions& options, SmallObjectAllocator heap) noexcept
    : base_(heap.addresses().data),
      bytes_(heap.addresses().size),
      spans_(nullptr),
      is_shared_(true),
      commits_(false),
      guards_(PartitionGuards::none),
      keep_empty_count_(0),
      name_(options.name),
      heap_(std::move(heap)) {}

Partition::~Partition() {
    if (heap_) return;
    annotate::pool_destroyed(this, commits_ ? MemoryBlock{} : addresses());
    if (!annotate::kActive || !commits_) return;
    // Whoever maps something there later knows nothing of us.
    for (std::size_t index = 0; index < bytes_ / kSpanBytes; ++index) {
        const bool has_memory = spans_[index].kind != SpanKind::unused || spans_[index].kept_bytes != 0;
        if (has_memory) annotate::permit_written(addresses().sub(index * kSpanBytes, kSpanBytes));
    }
}

Expected<MemoryBlock> Partition::allocate_slow(std::size_t size, std::size_t alignment) noexcept {
    if (heap_) [[likely]]
        return heap_->allocate(size, alignment);
    return allocate_here(size, alignment);
}

void Partition::deallocate_slow(MemoryBlock block, std::size_t alignment) noexcept {
    if (!heap_) [[unlikely]]
        return deallocate_here(block, alignment);
    OURO_BLOCK_ASSERT(block.is_null() || owns(block.data), "the block is not of this partition", *this,
                      block.data);
    heap_->deallocate(block, alignment);
}

Expected<MemoryBlock> Partition::allocate_here(std::size_t size, std::size_t alignment) noexcept {
    const Lock lock(*this);
    const auto block = find_block(size, alignment);
    failures_ += block ? 0U : 1U;
    return block;
}

Expected<MemoryBlock> Partition::find_block(std::size_t size, std::size_t alignment) noexcept {
    const Status asked = check_allocation(size, alignment);
    if (asked != Status::ok) return asked;
    const std::uint32_t index = class_for(size, alignment);
    if (index == kClassCount) return allocate_large(size, alignment);
    if (caches_[index].count == 0) {
        const Status refilled = refill(index);
        if (refilled != Status::ok) return refilled;
    }
    return take_cached(index);
}

Status Partition::refill(std::uint32_t class_index) noexcept {
    if (current_[class_index] == nullptr || current_[class_index]->free_count == 0) {
        const Status entered = enter_span(class_index);
        if (entered != Status::ok) return entered;
    }
    Span& span = *current_[class_index];
    Cache& cache = caches_[class_index];
    cache.count = std::min(span.free_count, cache.refill_count());
    // The newest goes first, so that addresses rise.
    for (std::uint32_t place = cache.count; place-- != 0;)
        cache.slots[place] = span.take_free();
    return Status::ok;
}

void Partition::flush(std::uint32_t class_index, std::uint32_t count) noexcept {
    Cache& cache = caches_[class_index];
    for (std::uint32_t place = 0; place < count; ++place) {
        const std::size_t offset = offset_of(cache.slots[place]);
        Span& span = spans_[offset / kSpanBytes];
        span.give_free(unit_of(offset));
        if (span.free_count == 1 || span.free_count == span.capacity) note_change(span);
    }
    std::copy_n(cache.slots.data() + count, cache.count - count, cache.slots.data());
    cache.count -= count;
}

// Spans start at a multiple of any alignment up to their size, so a slot is aligned when its size is.
std::uint32_t Partition::class_for(std::size_t size, std::size_t alignment) const noexcept {
    if (guards_ == PartitionGuards::blocks || size > partition::kMaxSlotBytes) return kClassCount;
    std::uint32_t index = partition::class_of(size);
    while (index < kClassCount && !is_aligned(kClassBytes[index], alignment))
        ++index;
    return index;
}

std::size_t Partition::usable_span_bytes() const noexcept {
    return guards_ == PartitionGuards::none ? kSpanBytes : kSpanBytes - os::page_size();
}

// Makes a span with a free slot the class's current one. The one before has none left: it comes back into a
// list with its first.
Status Partition::enter_span(std::uint32_t class_index) noexcept {
    std::uint32_t& head = partial_[class_index];
    if (head != kNoSpan) {
        Span& span = spans_[head];
        unlink(head, span);
        current_[class_index] = &span;
        return Status::ok;
    }
    const auto span = new_span();
    if (!span) return span.status();
    (*span)->open(class_index, usable_span_bytes());
    current_[class_index] = *span;
    return Status::ok;
}

Expected<Span*> Partition::new_span() noexcept {
    if (empty_ != kNoSpan) {
        Span& span = spans_[empty_];
        unlink(empty_, span);
        --empty_count_;
        return &span;
    }
    const auto index = choose_run(1, usable_span_bytes(), 1);
    if (!index) return index.status();
    const auto committed = commit_run(*index, usable_span_bytes());
    if (!committed) return committed.status();
    claim_run(*index, 1);
    std::byte* begin = base_ + std::size_t{*index} * kSpanBytes;
    spans_[*index].begin = begin;
    return &spans_[*index];
}

void Partition::deallocate_here(MemoryBlock block, std::size_t alignment) noexcept {
    if (block.is_null()) return;
    const Lock lock(*this);
    const std::size_t offset = offset_of(block.data);
    OURO_BLOCK_ASSERT(offset < bytes_, "the block is not of this partition", *this, block.data);
    Span& span = spans_[offset / kSpanBytes];
    if (span.kind == SpanKind::slots) {
        const bool on_unit = offset % partition::kSlotUnit == 0;
        if (!on_unit || !span.is_taken(unit_of(offset))) {
            OURO_BLOCK_ASSERT(on_unit && span.is_slot_start(unit_of(offset)), "no block starts here", *this,
                              block.data);
            OURO_BLOCK_ASSERT(span.is_taken(unit_of(offset)), "the block is free already", *this, block.data);
        }
        const Cache& cache = caches_[span.class_index];
        if (cache.count == cache.limit) flush(span.class_index, cache.flush_count());
        give_cached(span, block);
        return;
    }
    OURO_BLOCK_ASSERT(span.kind == SpanKind::large && offset % kSpanBytes == span.block_offset,
                      "no block starts here", *this, block.data);
    OURO_DEBUG_BLOCK_ASSERT(block.size <= span.block_bytes, "the block was never that large", *this,
                            block.data);
    OURO_DEBUG_BLOCK_ASSERT(is_aligned(block.data, alignment), "the block was never aligned like that", *this,
                            block.data);
    free_large(span);
}

void Partition::note_change(Span& span) noexcept {
    // The current span stays what it is.
    if (current_[span.class_index] == &span) return;
    std::uint32_t& head = partial_[span.class_index];
    if (!span.is_listed) link(head, span);
    if (span.free_count != span.capacity) return;
    unlink(head, span);
    span.kind = SpanKind::empty;
    span.capacity = 0;
    span.free_count = 0;
    span.summary = 0;
    link(empty_, span);
    ++empty_count_;
    // Half of them at a time, so that a span that comes and goes does not cost a system call each time.
    if (empty_count_ > keep_empty_count_ && commits_ && !is_sealed()) drop_empty_spans(keep_empty_count_ / 2);
}

Expected<MemoryBlock> Partition::reallocate(MemoryBlock block, std::size_t new_size,
                                            std::size_t alignment) noexcept {
    // The heap looks at the request itself, and counts.
    if (heap_ && (block.is_null() || owns(block.data))) return heap_->reallocate(block, new_size, alignment);
    if (block.is_null()) return allocate(new_size, alignment);
    if (const Status asked = check_allocation(new_size, alignment); asked != Status::ok) {
        const Lock lock(*this);
        ++failures_;
        return asked;
    }
    if (new_size > block.size) note_allocation();
    OURO_BLOCK_ASSERT(owns(block.data), "the block is not of this partition", *this, block.data);
    {
        const Lock lock(*this);
        Span& span = spans_[offset_of(block.data) / kSpanBytes];
        OURO_BLOCK_ASSERT(span.kind == SpanKind::slots || span.kind == SpanKind::large,
                          "no block starts here", *this, block.data);
        if (span.kind == SpanKind::large) {
            const auto resized = resize_large(span, new_size);
            if (resized) return resized;
        } else if (class_for(new_size, alignment) == span.class_index) {
            return MemoryBlock{block.data, kClassBytes[span.class_index]};
        }
    }
    return move_to_new_block(*this, block, new_size, alignment);
}

Expected<MemoryBlock> Partition::try_resize(MemoryBlock block, std::size_t new_size,
                                            std::size_t alignment) noexcept {
    const Status asked = check_allocation(new_size, alignment);
    if (asked != Status::ok) return asked;
    if (new_size > block.size) note_allocation();
    OURO_BLOCK_ASSERT(owns(block.data), "the block is not of this partition", *this, block.data);
    if (heap_) return heap_->try_resize(block, new_size, alignment);
    const Lock lock(*this);
    Span& span = spans_[offset_of(block.data) / kSpanBytes];
    OURO_BLOCK_ASSERT(span.kind == SpanKind::slots || span.kind == SpanKind::large, "no block starts here",
                      *this, block.data);
    if (span.kind == SpanKind::large) return resize_large(span, new_size);
    const std::size_t slot_bytes = kClassBytes[span.class_index];
    return new_size <= slot_bytes ? Expected<MemoryBlock>(MemoryBlock{block.data, slot_bytes})
                                  : Status::capacity_exhausted;
}

std::size_t Partition::trim() noexcept {
    if (heap_) return heap_->purge().bytes;
    const Lock lock(*this);
    const std::size_t before = committed_bytes_;
    reclaim();
    return commits_ ? before - committed_bytes_ : 0;
}

bool Partition::reclaim() noexcept {
    // Under a seal what is given back could not be had again.
    if (commits_ && is_sealed()) return false;
    drop_kept();
    for (std::uint32_t index = 0; index < kClassCount; ++index)
        flush(index, caches_[index].count);
    const std::size_t before = committed_bytes_;
    for (Span*& current : current_) {
        if (current == nullptr || current->free_count != current->capacity) continue;
        Span& span = *current;
        current = nullptr;
        note_change(span);
    }
    drop_empty_spans(0);
    return committed_bytes_ != before;
}

// What the system refuses to take stays in the list.
void Partition::drop_empty_spans(std::size_t kept) noexcept {
    while (empty_count_ > kept) {
        Span& span = spans_[empty_];
        if (decommit({span.begin, usable_span_bytes()}) != Status::ok) break;
        unlink(empty_, span);
        --empty_count_;
        release_run(index_of(span), 1);
    }
}

Status Partition::commit(MemoryBlock block) noexcept {
    if (commits_) {
        Status status = check_unsealed();
        if (status == Status::ok) status = os::commit(block).status();
        if (status != Status::ok) return status;
    }
    annotate::forbid(block);
    committed_bytes_ += block.size;
    publish();
    return Status::ok;
}

Status Partition::decommit(MemoryBlock block) noexcept {
    const Status status = commits_ ? os::decommit(block).status() : Status::ok;
    if (status != Status::ok) return status;
    // Without memory it faults by itself.
    if (commits_) annotate::permit_written(block);
    committed_bytes_ -= block.size;
    publish();
    return status;
}

void Partition::link(std::uint32_t& head, Span& span) noexcept {
    span.previous = kNoSpan;
    span.next = head;
    span.is_listed = true;
    if (head != kNoSpan) spans_[head].previous = index_of(span);
    head = index_of(span);
}

void Partition::unlink(std::uint32_t& head, Span& span) noexcept {
    if (span.previous == kNoSpan) {
        head = span.next;
    } else {
        spans_[span.previous].next = span.next;
    }
    if (span.next != kNoSpan) spans_[span.next].previous = span.previous;
    span.is_listed = false;
}

ResourceInfo Partition::info() const noexcept {
    static constexpr auto kSizes = [] {
        std::array<std::size_t, kClassCount> sizes{};
        std::ranges::copy(kClassBytes, sizes.begin());
        return sizes;
    }();
    ResourceInfo info{.name = name_,
                      .thread_safety = is_shared_ ? ThreadSafety::any_thread : ThreadSafety::single_thread,
                      .frees_blocks = true};
    if (heap_) {
        info.size_classes = heap_->info().size_classes;
    } else if (guards_ != PartitionGuards::blocks) {
        info.size_classes = kSizes;
    }
    return info;
}

ResourceStats Partition::stats() const noexcept {
    if (heap_) return heap_->stats();
    const Lock lock(*this);
    return {.live_bytes = live_bytes_,
            .peak_bytes = peak_bytes_,
            .live_blocks = static_cast<std::size_t>(allocations_ - frees_),
            .reserved_bytes = bytes_,
            .committed_bytes = commits_ ? committed_bytes_ : bytes_,
            .allocations = allocations_,
            .failures = failures_};
}

}  // namespace ouro
