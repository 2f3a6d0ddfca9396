#include <ouro/memory/detail/block_assert.hpp>
#include <ouro/memory/seal.hpp>
#include <ouro/memory/tlsf_allocator.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

namespace ouro {

Expected<TlsfAllocator> TlsfAllocator::create(const Options& options) noexcept {
    auto range = GrowingRange::reserve({.max_bytes = options.max_bytes,
                                        .step_bytes = options.commit_step_bytes,
                                        .name = options.name,
                                        .tag = options.tag});
    if (!range) return range.status();
    TlsfAllocator made(options.name, options.tag, nullptr, 0);
    made.range_ = *std::move(range);
    const MemoryBlock whole = made.range_.whole();
    const std::size_t control = TlsfHeap::control_bytes(whole.size);
    if (control > whole.size) return Status::out_of_range;
    if (const auto grown = made.range_.grow(control); !grown) return grown.status();
    if (const auto warm = made.range_.prewarm(control, options.prewarm_bytes); !warm) return warm.status();
    const Status adopted = made.adopt(whole, made.range_.usable_bytes(), Origin::own_range);
    if (adopted != Status::ok) return adopted;
    return made;
}

Expected<TlsfAllocator> TlsfAllocator::create_on(MemoryResource& upstream, std::size_t bytes,
                                                 const char* name) noexcept {
    auto made = create_growing(upstream, {.name = name, .region_bytes = bytes});
    if (made) made->takes_regions_ = false;
    return made;
}

Expected<TlsfAllocator> TlsfAllocator::create_growing(MemoryResource& upstream,
                                                      const UpstreamOptions& options) noexcept {
    TlsfAllocator made(options.name, options.tag, &upstream, options.region_bytes);
    const Status taken = made.take_region_for(1, 1);
    if (taken != Status::ok) return taken;
    made.takes_regions_ = true;
    return made;
}

Expected<TlsfAllocator> TlsfAllocator::create_in(MemoryBlock memory, const char* name) noexcept {
    TlsfAllocator made(name, {}, nullptr, 0);
    const Status adopted = made.adopt(memory, memory.size, Origin::caller);
    if (adopted != Status::ok) return adopted;
    return made;
}

TlsfAllocator::TlsfAllocator(TlsfAllocator&& other) noexcept
    : MemoryResource(), name_(other.name_), tag_(other.tag_) {
    steal(other);
}

TlsfAllocator& TlsfAllocator::operator=(TlsfAllocator&& other) noexcept {
    if (this != &other) {
        std::destroy_at(this);
        std::construct_at(this, std::move(other));
    }
    return *this;
}

TlsfAllocator::~TlsfAllocator() {
    // The memory itself is not read: a caller's region may be gone already.
    for (std::size_t i = region_count_; i-- > 0;) {
        Region& region = regions_[i];
        region.listing = {};
        if (region.origin != Origin::own_range) annotate::permit_written(region.memory);
        if (region.origin == Origin::upstream) upstream_->deallocate(region.memory, kDefaultAlignment);
    }
}

void TlsfAllocator::steal(TlsfAllocator& other) noexcept {
    region_count_ = std::exchange(other.region_count_, 0);
    takes_regions_ = std::exchange(other.takes_regions_, false);
    regions_ = std::move(other.regions_);
    range_ = std::move(other.range_);
    upstream_ = std::exchange(other.upstream_, nullptr);
    region_bytes_ = other.region_bytes_;
    peak_bytes_ = std::exchange(other.peak_bytes_, 0);
    past_allocations_ = std::exchange(other.past_allocations_, 0);
    failures_ = std::exchange(other.failures_, 0);
}

Status TlsfAllocator::adopt(MemoryBlock memory, std::size_t usable_bytes, Origin origin) noexcept {
    // What has memory and is not yet the heap's own is free.
    const std::size_t control = std::min(TlsfHeap::control_bytes(memory.size), usable_bytes);
    annotate::permit(memory.sub(0, control));
    const auto heap = TlsfHeap::create_in(memory, usable_bytes);
    if (!heap) return heap.status();
    annotate::forbid(memory.sub(control, usable_bytes - control));
    note_peak();
    Region& region = regions_[region_count_];
    region.heap = *heap;
    region.memory = memory;
    region.origin = origin;
    if (origin != Origin::own_range) {
        region.listing = BlockRegistration({.name = name_,
                                            .tag = tag_,
                                            .kind = BlockKind::borrowed,
                                            .base = memory.data,
                                            .reserved_bytes = memory.size,
                                            .committed_bytes = memory.size});
    }
    ++region_count_;
    publish(region);
    return Status::ok;
}

void TlsfAllocator::publish(Region& region) noexcept {
    const TlsfHeap::Stats stats = region.heap->stats();
    const auto live = static_cast<std::size_t>(stats.live_bytes);
    const auto peak = static_cast<std::size_t>(stats.peak_bytes);
    if (region.origin == Origin::own_range) return range_.publish(live, peak);
    region.listing.update(region.memory.size, live, peak);
}

std::size_t TlsfAllocator::publish_region_of(const void* address) noexcept {
    const Region* const found = find(address);
    OURO_ASSERT(found != nullptr, "no region has that address");
    Region& region = regions_[static_cast<std::size_t>(found - regions_.data())];
    publish(region);
    return static_cast<std::size_t>(region.heap->stats().live_bytes);
}

void TlsfAllocator::note_change(MemoryBlock before, MemoryBlock after) noexcept {
    annotate::forbid(before);
    annotate::permit_written(after);
}

void TlsfAllocator::drop_region(std::size_t index) noexcept {
    Region region = std::move(regions_[index]);
    note_peak();
    past_allocations_ += region.heap->stats().allocations;
    std::move(regions_.begin() + static_cast<std::ptrdiff_t>(index) + 1,
              regions_.begin() + static_cast<std::ptrdiff_t>(region_count_),
              regions_.begin() + static_cast<std::ptrdiff_t>(index));
    --region_count_;
    annotate::permit_written(region.memory);
    region.listing = {};
    if (region.origin == Origin::upstream) upstream_->deallocate(region.memory, kDefaultAlignment);
}

const TlsfAllocator::Region* TlsfAllocator::find(const void* address) const noexcept {
    for (std::size_t i = 0; i < region_count_; ++i) {
        if (regions_[i].memory.contains(address)) return &regions_[i];
    }
    return nullptr;
}

Expected<MemoryBlock> TlsfAllocator::try_regions(std::size_t size, std::size_t alignment) noexcept {
    Expected<MemoryBlock> block = Status::capacity_exhausted;
    for (std::size_t i = 0; i < region_count_ && block.status() == Status::capacity_exhausted; ++i)
        block = regions_[i].heap->allocate(size, alignment);
    if (block) annotate::permit(*block);
    return block;
}

Expected<MemoryBlock> TlsfAllocator::allocate_anywhere(std::size_t size, std::size_t alignment) noexcept {
    auto block = try_regions(size, alignment);
    if (block.status() == Status::capacity_exhausted) {
        const std::size_t regions = region_count_;
        const Status grown = grow_for(size, alignment);
        block = grown == Status::ok ? try_regions(size, alignment) : Expected<MemoryBlock>(grown);
        // A failure leaves everything as it was.
        if (!block && region_count_ > regions) drop_region(regions);
    }
    if (!block) ++failures_;
    if (region_count_ > 1) note_peak();
    return block;
}

Status TlsfAllocator::grow_for(std::size_t size, std::size_t alignment) noexcept {
    if (takes_regions_) return take_region_for(size, alignment);
    if (region_count_ == 0 || regions_[0].origin != Origin::own_range) return Status::capacity_exhausted;
    const auto bytes = TlsfHeap::image_bytes_for(size, alignment);
    return bytes ? grow_own_range(*bytes) : bytes.status();
}

// By the whole need of a block, as if nothing were free at the end; or by all that is left.
Status TlsfAllocator::grow_own_range(std::size_t bytes) noexcept {
    const std::size_t usable = range_.usable_bytes();
    const std::size_t room = range_.whole().size - usable;
    if (room == 0) return Status::capacity_exhausted;
    if (bytes > range_.whole().size) return Status::capacity_exhausted;
    const Status grown = range_.grow(usable + std::min(bytes, room)).status();
    if (grown != Status::ok) return grown;
    annotate::forbid({range_.whole().data + usable, range_.usable_bytes() - usable});
    const Status taken = regions_[0].heap->grow(range_.usable_bytes()).status();
    publish(regions_[0]);
    return taken;
}

// The regions are few, so each is a share of what there is already; of the last ones, each doubles it.
std::size_t TlsfAllocator::next_region_bytes() const noexcept {
    std::size_t held = 0;
    for (std::size_t i = 0; i < region_count_; ++i)
        held += regions_[i].memory.size;
    const std::size_t share = region_count_ < kMaxRegions / 2 ? held / 4 : held;
    return std::max(region_bytes_,
                    static_cast<std::size_t>(std::min<std::uint64_t>(share, TlsfHeap::kMaxBytes)));
}

Status TlsfAllocator::take_region_for(std::size_t size, std::size_t alignment) noexcept {
    if (region_count_ == kMaxRegions) return Status::capacity_exhausted;
    const auto least = TlsfHeap::image_bytes_for(size, alignment);
    if (!least) return least.status();
    if (*least > kMaxAllocationBytes) return Status::capacity_exhausted;
    // The first region is what the caller said, so that a size that makes no sense is told at once.
    std::size_t bytes = region_count_ == 0 ? region_bytes_ : std::max(*least, next_region_bytes());
    auto memory = upstream_->allocate(bytes, kDefaultAlignment);
    // Less than hoped for may still be enough.
    while (region_count_ != 0 && bytes > *least &&
           (memory.status() == Status::capacity_exhausted || memory.status() == Status::out_of_memory)) {
        bytes = std::max(*least, bytes / 2);
        memory = upstream_->allocate(bytes, kDefaultAlignment);
    }
    if (!memory) return memory.status();
    const Status adopted = adopt(*memory, memory->size, Origin::upstream);
    if (adopted != Status::ok) upstream_->deallocate(*memory, kDefaultAlignment);
    return adopted;
}

void TlsfAllocator::deallocate_anywhere(MemoryBlock block) noexcept {
    if (block.is_null()) return;
    const Region* region = find(block.data);
    OURO_BLOCK_ASSERT(region != nullptr, "the block is not of this allocator", *this, block.data);
    region->heap->deallocate(block);
    annotate::forbid(block);
}

Expected<MemoryBlock> TlsfAllocator::reallocate(MemoryBlock block, std::size_t new_size,
                                                std::size_t alignment) noexcept {
    if (block.is_null()) return allocate(new_size, alignment);
    const Region* region = find(block.data);
    OURO_BLOCK_ASSERT(region != nullptr, "the block is not of this allocator", *this, block.data);
    if (new_size > block.size) note_allocation();
    auto changed = region->heap->reallocate(block, new_size, alignment);
    if (changed.status() == Status::capacity_exhausted)
        return move_to_new_block(*this, block, new_size, alignment);
    if (!changed) ++failures_;
    if (changed) note_change(block, *changed);
    if (region_count_ > 1) note_peak();
    return changed;
}

Expected<MemoryBlock> TlsfAllocator::try_resize(MemoryBlock block, std::size_t new_size,
                                                std::size_t alignment) noexcept {
    const Region* region = find(block.data);
    OURO_BLOCK_ASSERT(region != nullptr, "the block is not of this allocator", *this, block.data);
    if (new_size > block.size) note_allocation();
    const auto changed = region->heap->try_resize(block, new_size, alignment);
    if (changed) note_change(block, *changed);
    if (region_count_ > 1) note_peak();
    return changed;
}

Expected<void> TlsfAllocator::add_region(MemoryBlock memory) noexcept {
    if (region_count_ == kMaxRegions) return Status::capacity_exhausted;
    for (std::size_t i = 0; i < region_count_; ++i) {
        if (regions_[i].memory.overlaps(memory)) return Status::address_in_use;
    }
    return adopt(memory, memory.size, Origin::caller);
}

Expected<void> TlsfAllocator::remove_region(MemoryBlock memory) noexcept {
    // The first one holds the allocator up and goes with it.
    for (std::size_t i = 1; i < region_count_; ++i) {
        if (regions_[i].memory != memory || regions_[i].origin != Origin::caller) continue;
        if (!regions_[i].heap->is_empty()) return Status::busy;
        drop_region(i);
        return {};
    }
    return Status::not_found;
}

std::size_t TlsfAllocator::trim_own_range(Region& region) noexcept {
    const std::size_t before = range_.usable_bytes();
    range_.shrink(region.heap->shrink());
    // Up to the page boundary, or all of it when the system refused.
    const Status regrown = region.heap->grow(range_.usable_bytes()).status();
    OURO_ASSERT(regrown == Status::ok, "a heap takes back what it had");
    publish(region);
    return before - range_.usable_bytes();
}

std::size_t TlsfAllocator::trim() noexcept {
    std::size_t given_back = 0;
    for (std::size_t i = region_count_; i-- > 0;) {
        Region& region = regions_[i];
        if (region.origin == Origin::own_range) given_back += trim_own_range(region);
        // Under a seal nothing could be had again.
        if (is_sealed()) continue;
        if (i == 0 || region.origin != Origin::upstream || !region.heap->is_empty()) continue;
        given_back += region.memory.size;
        drop_region(i);
    }
    return given_back;
}

std::size_t TlsfAllocator::live_bytes() const noexcept {
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < region_count_; ++i)
        bytes += static_cast<std::size_t>(regions_[i].heap->stats().live_bytes);
    return bytes;
}

void TlsfAllocator::note_peak() noexcept {
    peak_bytes_ = std::max(peak_bytes_, region_count_ == 1
                                            ? static_cast<std::size_t>(regions_[0].heap->stats().peak_bytes)
                                            : live_bytes());
}

TlsfHeap::Stats TlsfAllocator::heap_stats() const noexcept {
    TlsfHeap::Stats sum;
    for (std::size_t i = 0; i < region_count_; ++i) {
        const TlsfHeap::Stats one = regions_[i].heap->stats();
        sum.live_bytes += one.live_bytes;
        sum.live_blocks += one.live_blocks;
        sum.allocations += one.allocations;
        sum.grown_in_place += one.grown_in_place;
        sum.slid_down += one.slid_down;
        sum.moved += one.moved;
    }
    sum.peak_bytes = std::max<std::uint64_t>(peak_bytes_, sum.live_bytes);
    if (region_count_ == 1) sum.peak_bytes = std::max(sum.peak_bytes, regions_[0].heap->stats().peak_bytes);
    return sum;
}

bool TlsfAllocator::owns(const void* address) const noexcept {
    return find(address) != nullptr;
}

ResourceInfo TlsfAllocator::info() const noexcept {
    return {.name = name_, .thread_safety = ThreadSafety::single_thread, .frees_blocks = true};
}

ResourceStats TlsfAllocator::stats() const noexcept {
    const TlsfHeap::Stats heap = heap_stats();
    ResourceStats stats{.live_bytes = static_cast<std::size_t>(heap.live_bytes),
                        .peak_bytes = static_cast<std::size_t>(heap.peak_bytes),
                        .live_blocks = static_cast<std::size_t>(heap.live_blocks),
                        .allocations = past_allocations_ + heap.allocations,
                        .failures = failures_};
    for (std::size_t i = 0; i < region_count_; ++i) {
        stats.reserved_bytes += regions_[i].memory.size;
        stats.committed_bytes += regions_[i].heap->usable_bytes();
    }
    return stats;
}

Status TlsfAllocator::check() const noexcept {
    for (std::size_t i = 0; i < region_count_; ++i) {
        const Region& region = regions_[i];
        const bool own = region.origin == Origin::own_range;
        const MemoryBlock usable{region.memory.data, own ? range_.usable_bytes() : region.memory.size};
        if (TlsfHeap::check(usable) != Status::ok) return Status::corrupt_data;
    }
    return Status::ok;
}

}  // namespace ouro
