#include "campaign_subjects.hpp"

#include <ouro/memory/collections/capacity_pool.hpp>
#include <ouro/memory/partition_allocator.hpp>
#include <ouro/memory/pool.hpp>
#include <ouro/memory/pool_allocator.hpp>
#include <ouro/memory/system_allocator.hpp>
#include <ouro/memory/tlsf_allocator.hpp>
#include <ouro/memory/tlsf_heap.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include <gtest/gtest.h>

namespace ouro::testing_support {
namespace {

struct alignas(kPoolAlignment) Cell {
    std::byte bytes[kPoolBlockBytes];
};

// Each object is a block. Its handle names it while it lives and is stale afterwards.
class ObjectPool final : public MemoryResource {
public:
    explicit ObjectPool(Pool<Cell> pool) : pool_(std::move(pool)) {}

    Expected<MemoryBlock> allocate(std::size_t size, std::size_t alignment) noexcept override {
        if (const Status asked = check_allocation(size, alignment); asked != Status::ok) return refuse(asked);
        if (size > kPoolBlockBytes || alignment > kPoolAlignment) return Status::capacity_exhausted;
        const auto handle = pool_.emplace();
        if (!handle) return handle.status();
        Cell* const cell = pool_.get(*handle);
        EXPECT_NE(cell, nullptr);
        EXPECT_EQ(pool_.handle_of(cell), *handle);
        return MemoryBlock{cell->bytes, kPoolBlockBytes};
    }
    void deallocate(MemoryBlock block, std::size_t) noexcept override {
        Cell* const cell = reinterpret_cast<Cell*>(block.data);
        const auto handle = pool_.handle_of(cell);
        EXPECT_EQ(pool_.get(handle), cell);
        EXPECT_EQ(pool_.destroy(handle), Status::ok);
        EXPECT_EQ(pool_.get(handle), nullptr);
        EXPECT_EQ(pool_.destroy(handle), Status::stale_handle);
    }
    Expected<MemoryBlock> reallocate(MemoryBlock block, std::size_t new_size,
                                     std::size_t alignment) noexcept override {
        if (block.is_null()) return allocate(new_size, alignment);
        const auto resized = try_resize(block, new_size, alignment);
        return resized ? resized : refuse(resized.status());
    }
    Expected<MemoryBlock> try_resize(MemoryBlock block, std::size_t new_size,
                                     std::size_t alignment) noexcept override {
        if (const Status asked = check_allocation(new_size, alignment); asked != Status::ok) return asked;
        if (new_size > kPoolBlockBytes) return Status::capacity_exhausted;
        return MemoryBlock{block.data, kPoolBlockBytes};
    }
    bool owns(const void* address) const noexcept override { return pool_.owns(address); }
    ResourceInfo info() const noexcept override { return {.name = pool_.name(), .frees_blocks = true}; }
    ResourceStats stats() const noexcept override {
        ResourceStats stats = pool_.stats();
        stats.failures += refused_;
        return stats;
    }
    Status check() const noexcept override {
        // The objects that a walk finds are those that there are.
        const auto seen = static_cast<std::size_t>(std::distance(pool_.begin(), last()));
        return seen == pool_.count() ? pool_.check() : Status::corrupt_data;
    }
    std::size_t trim() noexcept { return pool_.trim(); }
    void reset() noexcept { pool_.clear(); }

private:
    // Before the pool was asked, which knows nothing of sizes.
    Expected<MemoryBlock> refuse(Status status) noexcept {
        ++refused_;
        return status;
    }
    [[nodiscard]] Pool<Cell>::ConstIterator last() const noexcept {
        auto place = pool_.begin();
        while (!(place == pool_.end()))
            ++place;
        return place;
    }

    Pool<Cell> pool_;
    std::uint64_t refused_ = 0;
};

// In an image of which a part is usable at first. It is told to grow when it is full, and to shrink when
// something is to be given back.
class HeapInImage final : public MemoryResource {
public:
    HeapInImage(SystemAllocator memory, MemoryBlock image) : memory_(std::move(memory)), image_(image) {
        reset();
    }
    HeapInImage(const HeapInImage&) = delete;
    HeapInImage& operator=(const HeapInImage&) = delete;
    ~HeapInImage() { memory_.deallocate(image_, kAlignment); }

    // Where blocks of the largest alignment that a test asks for may stand.
    static constexpr std::size_t kAlignment = 4096;

    Expected<MemoryBlock> allocate(std::size_t size, std::size_t alignment) noexcept override {
        const auto block = heap_->allocate(size, alignment);
        if (!block && block.status() == Status::capacity_exhausted && grow())
            return allocate(size, alignment);
        return counted(block);
    }
    void deallocate(MemoryBlock block, std::size_t) noexcept override { heap_->deallocate(block); }
    Expected<MemoryBlock> reallocate(MemoryBlock block, std::size_t new_size,
                                     std::size_t alignment) noexcept override {
        return counted(heap_->reallocate(block, new_size, alignment));
    }
    Expected<MemoryBlock> try_resize(MemoryBlock block, std::size_t new_size,
                                     std::size_t alignment) noexcept override {
        return heap_->try_resize(block, new_size, alignment);
    }
    bool owns(const void* address) const noexcept override { return image_.contains(address); }
    ResourceInfo info() const noexcept override { return {.name = "tlsf image", .frees_blocks = true}; }
    ResourceStats stats() const noexcept override {
        const TlsfHeap::Stats all = heap_->stats();
        return {.live_bytes = static_cast<std::size_t>(all.live_bytes),
                .live_blocks = static_cast<std::size_t>(all.live_blocks),
                .failures = failures_};
    }
    // Both ways to look at it.
    Status check() const noexcept override {
        const Status status = TlsfHeap::check({image_.data, heap_->usable_bytes()});
        return status == Status::ok ? heap_->check() : status;
    }
    std::size_t trim() noexcept { return heap_->shrink(); }
    void reset() noexcept { heap_ = *TlsfHeap::create_in(image_, image_.size / 2); }

private:
    // An image counts no failures: they change nothing in it.
    Expected<MemoryBlock> counted(Expected<MemoryBlock> block) noexcept {
        failures_ += block ? 0U : 1U;
        return block;
    }
    bool grow() noexcept {
        const std::size_t usable = heap_->usable_bytes();
        if (usable == heap_->image_bytes()) return false;
        return heap_->grow(std::min(heap_->image_bytes(), usable + image_.size / 8)).status() == Status::ok;
    }

    SystemAllocator memory_;
    MemoryBlock image_;
    TlsfHeap* heap_ = nullptr;
    std::uint64_t failures_ = 0;
};

// Memory for regions of a heap, given back at the end.
class RegionMemory {
public:
    static constexpr std::size_t kRegions = 4;
    static constexpr std::size_t kAlignment = 4096;

    explicit RegionMemory(SystemAllocator system) : system_(std::move(system)) {}
    RegionMemory(const RegionMemory&) = delete;
    RegionMemory& operator=(const RegionMemory&) = delete;
    ~RegionMemory() {
        for (const MemoryBlock region : regions_)
            system_.deallocate(region, kAlignment);
    }

    // One of them holds all that another resource may ask for in one piece.
    [[nodiscard]] bool take(std::size_t bytes) {
        for (std::size_t index = 0; index < kRegions; ++index) {
            const auto block = system_.allocate(index == 0 ? bytes / 4 * 3 : bytes / 12, kAlignment);
            if (!block) return false;
            regions_[index] = *block;
        }
        return true;
    }
    [[nodiscard]] MemoryBlock operator[](std::size_t index) const { return regions_[index]; }

private:
    SystemAllocator system_;
    std::array<MemoryBlock, kRegions> regions_;
};

// The regions are removed as soon as they are empty, and added again.
class RegionsHolder final : public Part {
public:
    RegionsHolder(std::unique_ptr<RegionMemory> memory, TlsfAllocator heap)
        : memory_(std::move(memory)), heap_(std::move(heap)) {
        for (std::size_t index = 1; index < RegionMemory::kRegions; ++index)
            EXPECT_TRUE(heap_.add_region((*memory_)[index]));
    }
    RegionsHolder(const RegionsHolder&) = delete;
    RegionsHolder& operator=(const RegionsHolder&) = delete;

    [[nodiscard]] MemoryResource& resource() override { return heap_; }
    void give_back() override {
        (void)heap_.trim();
        for (std::size_t index = 1; index < RegionMemory::kRegions; ++index) {
            const Status removed = heap_.remove_region((*memory_)[index]).status();
            EXPECT_TRUE(removed == Status::ok || removed == Status::busy) << status_name(removed);
            if (removed == Status::ok) {
                EXPECT_TRUE(heap_.add_region((*memory_)[index]));
            }
        }
    }

private:
    // Ends after the heap.
    std::unique_ptr<RegionMemory> memory_;
    TlsfAllocator heap_;
};

}  // namespace

PartPointer build_object_pool(const Site& site) {
    const Pool<Cell>::Options options{.max_objects = site.bytes / sizeof(Cell)};
    auto pool = site.upstreams.empty() ? Pool<Cell>::create(options)
                                       : Pool<Cell>::create_on(*site.upstreams[0], options);
    if (!pool) return nullptr;
    return hold_in_place<ObjectPool>(*std::move(pool));
}

PartPointer build_local_pool(const Site& site) {
    const PoolOptions options{.block_bytes = kPoolBlockBytes,
                              .alignment = kPoolAlignment,
                              .max_blocks = site.bytes / kPoolBlockBytes};
    if (site.upstreams.empty()) return hold(LocalPoolAllocator::create(options));
    return hold(LocalPoolAllocator::create_on(*site.upstreams[0], options));
}

PartPointer build_tlsf_heap(const Site& site) {
    auto memory = SystemAllocator::create({});
    if (!memory) return nullptr;
    const auto image = memory->allocate(site.bytes, HeapInImage::kAlignment);
    if (!image) return nullptr;
    return hold_in_place<HeapInImage>(*std::move(memory), *image);
}

PartPointer build_tlsf_growing(const Site& site) {
    return hold(TlsfAllocator::create_growing(*site.upstreams[0], {.region_bytes = site.bytes / 8}));
}

PartPointer build_tlsf_regions(const Site& site) {
    auto system = SystemAllocator::create({});
    if (!system) return nullptr;
    auto memory = std::make_unique<RegionMemory>(*std::move(system));
    if (!memory->take(site.bytes)) return nullptr;
    auto heap = TlsfAllocator::create_in((*memory)[0]);
    if (!heap) return nullptr;
    return std::make_unique<RegionsHolder>(std::move(memory), *std::move(heap));
}

PartPointer build_capacity_pool(const Site& site) {
    return hold_in_place<CapacityPool>(
        *site.upstreams[0],
        CapacityPool::Options{.largest_block_bytes = site.bytes / 16, .max_kept_bytes = site.bytes / 8});
}

PartPointer build_partition_with(const Site& site, ThreadSafety threads, PartitionGuards guards) {
    class SetHolder final : public Part {
    public:
        explicit SetHolder(PartitionAllocator set) : set_(std::move(set)) {}
        [[nodiscard]] MemoryResource& resource() override { return set_[1]; }
        void give_back() override { (void)set_.trim(); }

    private:
        PartitionAllocator set_;
    };
    // A block with pages of its own takes the addresses of a span.
    const std::size_t bytes = guards == PartitionGuards::blocks ? 32 * site.bytes : site.bytes;
    const PartitionOptions parts[] = {
        {.name = "other", .max_bytes = 1},
        {.name = "partition", .max_bytes = bytes, .guards = guards, .thread_safety = threads}};
    auto set = site.upstreams.empty()
                   ? PartitionAllocator::create({.partitions = parts})
                   : PartitionAllocator::create_on(*site.upstreams[0], {.partitions = parts});
    if (!set) return nullptr;
    return std::make_unique<SetHolder>(*std::move(set));
}

}  // namespace ouro::testing_support
