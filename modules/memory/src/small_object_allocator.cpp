#include <ouro/memory/block_registry.hpp>
#include <ouro/memory/detail/block_assert.hpp>
#include <ouro/memory/detail/heap_listing.hpp>
#include <ouro/memory/small_object_allocator.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

namespace ouro {

using detail::HeapCore;
using detail::UnitKind;
using detail::UnitMap;

// Lies behind the core.
struct SmallObjectAllocator::Listing : detail::HeapListing {};

struct SmallObjectAllocator::Parts {
    const char* name = nullptr;
    Tag tag;
    std::size_t purge_threshold_bytes = 0;
    std::size_t largest_small_bytes = detail::kLargestClassBytes;
    std::size_t prewarm_bytes = 0;
    os::Reservation metadata;
    os::Reservation units;
    MemoryBlock region;
    MemoryResource* upstream = nullptr;
    HeapCore::Layout layout;
    HeapCore::Memory memory;
};

namespace {

// Where the parts lie in a region: the metadata at its front, then whole units.
struct RegionPlan {
    HeapCore::Layout layout;
    MemoryBlock metadata;
    MemoryBlock units;
};

Expected<RegionPlan> plan_region(MemoryBlock region, std::size_t owner_bytes) noexcept {
    constexpr std::size_t kRecordAlignment = alignof(detail::Slab);
    const auto begin = align_up(reinterpret_cast<std::uintptr_t>(region.data), kRecordAlignment);
    const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(region.data) + region.size;
    // One unit fewer until both fit; the first guess leaves out nothing but the metadata.
    for (std::size_t units = region.size / UnitMap::kUnitBytes; units != 0; --units) {
        const HeapCore::Layout layout = HeapCore::layout_for(units, kRecordAlignment, owner_bytes);
        const std::uintptr_t first_unit = align_up(begin + layout.bytes, UnitMap::kUnitBytes);
        if (first_unit > end || end - first_unit < units * UnitMap::kUnitBytes) continue;
        return RegionPlan{layout,
                          {reinterpret_cast<std::byte*>(begin), layout.bytes},
                          {reinterpret_cast<std::byte*>(first_unit), units * UnitMap::kUnitBytes}};
    }
    return Status::bad_argument;
}

}  // namespace

Expected<SmallObjectAllocator> SmallObjectAllocator::create(const Options& options) noexcept {
    const std::size_t units = options.max_bytes / UnitMap::kUnitBytes;
    if (!HeapCore::is_enough(units)) return Status::bad_argument;
    if (options.largest_small_bytes - 1 >= kLargestSmallBytes) return Status::out_of_range;
    Parts parts;
    parts.name = options.name;
    parts.tag = options.tag;
    parts.purge_threshold_bytes = options.purge_threshold_bytes;
    parts.largest_small_bytes = options.largest_small_bytes;
    parts.prewarm_bytes = options.prewarm_bytes;
    parts.layout = HeapCore::layout_for(units, os::page_size(), sizeof(Listing));
    auto metadata = os::Reservation::create({.bytes = parts.layout.bytes}, os::page_size());
    if (!metadata) return metadata.status();
    const bool wants_huge = options.huge_pages_from_bytes < options.max_bytes;
    auto addresses =
        os::Reservation::create({.bytes = units * UnitMap::kUnitBytes,
                                 .alignment = wants_huge ? HeapCore::kHugeBytes : UnitMap::kUnitBytes},
                                os::page_size());
    if (!addresses) return addresses.status();
    const auto committed = metadata->commit(0, parts.layout.slabs_offset);
    if (!committed) return committed.status();
    parts.memory = {.metadata = metadata->block(),
                    .units = addresses->block(),
                    .grows = true,
                    .huge_from_bytes = options.huge_pages_from_bytes};
    parts.metadata = *std::move(metadata);
    parts.units = *std::move(addresses);
    return build(std::move(parts));
}

Expected<SmallObjectAllocator> SmallObjectAllocator::create_on(MemoryResource& upstream, std::size_t bytes,
                                                               const char* name, Tag tag) noexcept {
    const auto region = upstream.allocate(bytes, kDefaultAlignment);
    if (!region) return region.status();
    auto heap = create_in(*region, name, tag);
    if (heap) {
        heap->upstream_ = &upstream;
    } else {
        upstream.deallocate(*region, kDefaultAlignment);
    }
    return heap;
}

Expected<SmallObjectAllocator> SmallObjectAllocator::create_in(MemoryBlock region, const char* name,
                                                               Tag tag) noexcept {
    if (region.is_null()) return Status::bad_argument;
    const auto plan = plan_region(region, sizeof(Listing));
    if (!plan) return plan.status();
    Parts parts;
    parts.name = name;
    parts.tag = tag;
    parts.region = region;
    parts.layout = plan->layout;
    parts.memory = {.metadata = plan->metadata, .units = plan->units, .grows = false};
    std::memset(plan->metadata.data, 0, plan->metadata.size);
    return build(std::move(parts));
}

Expected<SmallObjectAllocator> SmallObjectAllocator::build(Parts&& parts) noexcept {
    std::byte* const place = parts.memory.metadata.data;
    auto* const listing = new (place + sizeof(HeapCore)) Listing;
    listing->registration =
        BlockRegistration({.name = parts.name,
                           .tag = parts.tag,
                           .kind = parts.memory.grows ? BlockKind::own : BlockKind::borrowed,
                           .base = parts.memory.units.data,
                           .reserved_bytes = parts.memory.units.size,
                           .committed_bytes = parts.memory.grows ? 0 : parts.memory.units.size});
    parts.memory.name = parts.name;
    listing->attach_to(parts.memory);
    auto* const core = new (place)
        HeapCore(parts.memory, parts.layout, parts.purge_threshold_bytes, parts.largest_small_bytes);
    listing->core = core;
    Listing::note_use(listing);
    // Memory that comes later is told block by block.
    annotate::pool_created(pool_of(core), parts.memory.grows ? MemoryBlock{} : core->units().units());
    const auto added = detail::add_live_core(*core);
    if (!added) {
        std::destroy_at(listing);
        return added.status();
    }
    const std::size_t prewarm_bytes = parts.prewarm_bytes;
    SmallObjectAllocator heap(std::move(parts));
    if (const auto warm = core->prewarm(prewarm_bytes); !warm) return warm.status();
    return heap;
}

SmallObjectAllocator::Listing& SmallObjectAllocator::listing() const noexcept {
    return *std::launder(reinterpret_cast<Listing*>(reinterpret_cast<std::byte*>(core_) + sizeof(HeapCore)));
}

SmallObjectAllocator::SmallObjectAllocator(Parts&& parts) noexcept
    : core_(std::launder(reinterpret_cast<HeapCore*>(parts.memory.metadata.data))),
      id_(core_->id()),
      name_(parts.name),
      metadata_(std::move(parts.metadata)),
      units_(std::move(parts.units)),
      region_(parts.region),
      upstream_(parts.upstream) {}

SmallObjectAllocator::SmallObjectAllocator(SmallObjectAllocator&& other) noexcept
    : MemoryResource(other),
      core_(std::exchange(other.core_, nullptr)),
      id_(std::exchange(other.id_, 0)),
      name_(other.name_),
      metadata_(std::move(other.metadata_)),
      units_(std::move(other.units_)),
      region_(std::exchange(other.region_, {})),
      upstream_(std::exchange(other.upstream_, nullptr)) {}

SmallObjectAllocator& SmallObjectAllocator::operator=(SmallObjectAllocator&& other) noexcept {
    if (this != &other) {
        std::destroy_at(this);
        std::construct_at(this, std::move(other));
    }
    return *this;
}

SmallObjectAllocator::~SmallObjectAllocator() {
    if (core_ == nullptr) return;
    detail::remove_live_core(*core_);
    std::destroy_at(&listing());
    annotate::pool_destroyed(pool_of(core_), {});
    annotate::permit_written(
        {core_->units().units().data, core_->units().usable_units() * UnitMap::kUnitBytes});
    if (upstream_ != nullptr) upstream_->deallocate(region_, kDefaultAlignment);
}

void SmallObjectAllocator::reset() noexcept {
    detail::HeapCore& heap = core();
    annotate::pool_destroyed(pool_of(core_), {});
    detail::reset_live_core(heap);
    id_ = heap.id();
    annotate::pool_created(pool_of(core_), {});
}

Expected<MemoryBlock> SmallObjectAllocator::allocate_slow(std::size_t size, std::size_t alignment) noexcept {
    const Status asked = check_allocation(size, alignment);
    if (asked != Status::ok) {
        core().note_failure();
        return asked;
    }
    const unsigned size_class = core().class_for(size, alignment);
    if (size_class == detail::kClassCount) {
        if (const MemoryBlock kept = take_kept(size, alignment); !kept.is_null())
            return handed_out(kept.data, kept.size);
    }
    const std::uint64_t purges = core().ended_purges();
    auto block = find_block(size_class, size, alignment);
    // Before it is exhausted, what threads keep serves too.
    if (!block && core().take_back(size, purges)) block = find_block(size_class, size, alignment);
    if (!block) {
        core().note_failure();
        return block;
    }
    return handed_out(block->data, block->size);
}

inline MemoryBlock SmallObjectAllocator::take_kept(std::size_t size, std::size_t alignment) noexcept {
    detail::ThreadHeap* const heap = detail::noted_heap(id_);
    return heap != nullptr ? core_->allocate_kept(size, alignment, *heap) : MemoryBlock{};
}

Expected<MemoryBlock> SmallObjectAllocator::find_block(unsigned size_class, std::size_t size,
                                                       std::size_t alignment) noexcept {
    if (size_class == detail::kClassCount) return core_->allocate_large(size, alignment, nullptr);
    return allocate_small(size_class);
}

Expected<MemoryBlock> SmallObjectAllocator::allocate_small(unsigned size_class) noexcept {
    for (;;) {
        detail::ThreadHeap* heap = detail::noted_heap(id_);
        if (heap == nullptr) {
            const auto found = detail::find_heap(*core_);
            if (!found) return found.status();
            heap = *found;
        }
        const auto block = heap->pop_slow(size_class);
        if (block) return MemoryBlock{static_cast<std::byte*>(*block), detail::kClassBytes[size_class]};
        if (block.status() != Status::busy) return block.status();
        detail::forget_heap(id_);
    }
}

void SmallObjectAllocator::deallocate_slow(MemoryBlock block, std::size_t alignment) noexcept {
    if (block.is_null()) return;
    OURO_BLOCK_ASSERT(core().units().owns(block.data), "not a block of this heap", *this, block.data);
    const unsigned size_class = core_->class_for(block.size, alignment);
    if (size_class == detail::kClassCount) return deallocate_large(block.data);
    OURO_BLOCK_ASSERT(is_of_class(block.data, size_class),
                      "freed with a size or alignment that is not its own", *this, block.data);
    for (;; detail::forget_heap(id_)) {
        detail::ThreadHeap* heap = detail::noted_heap(id_);
        if (heap == nullptr) {
            const auto found = detail::find_heap(*core_);
            // Without room for a heap of its own, a thread sends the block home alone.
            if (!found) return core_->send_home(size_class, block.data);
            heap = *found;
        }
        if (heap->push_slow(size_class, block.data)) return;
    }
}

void SmallObjectAllocator::deallocate_large(std::byte* block) noexcept {
    detail::ThreadHeap* heap = detail::noted_heap(id_);
    if (heap == nullptr && core_->keeps_runs()) {
        const auto found = detail::find_heap(*core_);
        if (found) heap = *found;
    }
    if (heap == nullptr || !core_->keep_large(block, *heap)) core_->deallocate_large(block);
}

Expected<MemoryBlock> SmallObjectAllocator::reallocate(MemoryBlock block, std::size_t new_size,
                                                       std::size_t alignment) noexcept {
    if (block.is_null()) return allocate(new_size, alignment);
    const Status asked = check_allocation(new_size, alignment);
    if (asked != Status::ok) {
        core().note_failure();
        return asked;
    }
    const auto resized = try_resize(block, new_size, alignment);
    if (resized) return resized;
    return move_to_new_block(*this, block, new_size, alignment);
}

Expected<MemoryBlock> SmallObjectAllocator::try_resize(MemoryBlock block, std::size_t new_size,
                                                       std::size_t alignment) noexcept {
    const Status asked = check_allocation(new_size, alignment);
    if (asked != Status::ok) return asked;
    OURO_BLOCK_ASSERT(owns(block.data), "not a block of this heap", *this, block.data);
    if (new_size > block.size) note_allocation();
    const unsigned before = core_->class_for(block.size, alignment);
    if (before != core_->class_for(new_size, alignment)) return Status::capacity_exhausted;
    if (before != detail::kClassCount) return MemoryBlock{block.data, detail::kClassBytes[before]};
    const MemoryBlock whole{block.data, core_->large_size(block.data)};
    // Sanitizers hear of the rest before another thread can have it.
    const MemoryBlock rounded{block.data, good_size(new_size, alignment, largest_small_bytes())};
    if (rounded.size < whole.size) annotate::resized(pool_of(core_), whole, rounded);
    const MemoryBlock resized = core_->resize_large(block.data, new_size, detail::noted_heap(id_));
    if (resized.is_null()) return Status::capacity_exhausted;
    if (resized.size > whole.size) annotate::resized(pool_of(core_), whole, resized);
    return resized;
}

bool SmallObjectAllocator::is_of_class(const void* block, unsigned size_class) const noexcept {
    if (size_class < core().slab_classes()) return core_->is_block(size_class, block);
    return core_->units().owns(block) && core_->is_large_block(block);
}

bool SmallObjectAllocator::owns(const void* address) const noexcept {
    return core().units().owns(address);
}

ResourceInfo SmallObjectAllocator::info() const noexcept {
    static constexpr auto kSizes = [] {
        std::array<std::size_t, detail::kClassCount> sizes{};
        std::ranges::copy(detail::kClassBytes, sizes.begin());
        return sizes;
    }();
    return {.name = name_,
            .thread_safety = ThreadSafety::any_thread,
            .size_classes = std::span(kSizes).first(core().slab_classes())};
}

ResourceStats SmallObjectAllocator::stats() const noexcept {
    const Counts counts = core().count();
    return {.live_bytes = counts.live_bytes,
            .peak_bytes = std::max(core().peak_bytes(), counts.live_bytes),
            .live_blocks = counts.live_blocks,
            .reserved_bytes = core().units().units().size,
            .committed_bytes = core().units().usable_units() * UnitMap::kUnitBytes,
            // Each block that is not there any more took two operations, each that is there one.
            .allocations = (counts.operations + counts.live_blocks) / 2,
            .failures = core().failures()};
}

Status SmallObjectAllocator::check() const noexcept {
    return core().check();
}

}  // namespace ouro
