#pragma once

#include <ouro/memory/annotations.hpp>
#include <ouro/memory/block_registry.hpp>
#include <ouro/memory/growing_range.hpp>
#include <ouro/memory/memory_resource.hpp>
#include <ouro/memory/no_allocation_scope.hpp>
#include <ouro/memory/tlsf_heap.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace ouro {

// Blocks of any size and lifetime in bounded time: the general heap for what is too large for pools and lives
// too long for frames. Each region of memory is a TlsfHeap of its own; those added first are used first.
//
//     auto heap = TlsfAllocator::create({.max_bytes = std::size_t{1} << 30});
//     auto block = heap->allocate(10'000);
//     block = heap->reallocate(*block, 20'000);
//     heap->deallocate(*block);
class TlsfAllocator final : public MemoryResource {
public:
    static constexpr std::size_t kMaxRegions = 32;

    struct Options {
        const char* name = "tlsf";
        Tag tag = {};
        std::size_t max_bytes = std::size_t{1} << 30;
        std::size_t commit_step_bytes = std::size_t{1} << 20;
        // So much of what blocks are made of is in memory from the beginning, ready to be written without a
        // fault. trim() may give it back.
        std::size_t prewarm_bytes = 0;
    };
    struct UpstreamOptions {
        const char* name = "tlsf";
        Tag tag = {};
        // How much to ask the other resource for at once at first; more where one block needs it, and the
        // more is held already. Less where the other resource refuses and the block still fits.
        std::size_t region_bytes = std::size_t{4} << 20;
    };

    // On reserved addresses of its own, committed as needed, with a guard page at the end. Fails as
    // os::reserve does; out_of_range when it is too small for the heap itself, or too large; with memory to
    // prewarm also as os::prefault does, or with capacity_exhausted beyond max_bytes.
    [[nodiscard]] static Expected<TlsfAllocator> create(const Options& options) noexcept;
    // On one block of another resource, which must live longer.
    [[nodiscard]] static Expected<TlsfAllocator> create_on(MemoryResource& upstream, std::size_t bytes,
                                                           const char* name = "tlsf") noexcept;
    // The same, and asks for another block whenever those it has are full: a quarter of what it holds, and
    // from the 16th on as much again. With 4 MiB at first the kMaxRegions blocks hold tebibytes, each at most
    // TlsfHeap::kMaxBytes, so that it is the other resource that ends. Where that one is too cut up to
    // give blocks of such sizes, they are smaller, and after kMaxRegions of them it is capacity_exhausted.
    [[nodiscard]] static Expected<TlsfAllocator> create_growing(MemoryResource& upstream,
                                                                const UpstreamOptions& options) noexcept;
    // On memory of the caller, which must outlive it and be aligned to kDefaultAlignment.
    [[nodiscard]] static Expected<TlsfAllocator> create_in(MemoryBlock memory,
                                                           const char* name = "tlsf") noexcept;

    TlsfAllocator(TlsfAllocator&& other) noexcept;
    TlsfAllocator& operator=(TlsfAllocator&& other) noexcept;
    ~TlsfAllocator();

    [[nodiscard]] Expected<MemoryBlock> allocate(
        std::size_t size, std::size_t alignment = kDefaultAlignment) noexcept override {
        note_allocation();
        if (region_count_ == 1) [[likely]] {
            const auto block = regions_[0].heap->allocate(size, alignment);
            if (block) [[likely]] {
                annotate::permit(*block);
                return block;
            }
        }
        return allocate_anywhere(size, alignment);
    }

    // Requires: a block of this allocator that is in use; or null. Without asserts, one of another allocator
    // is noticed at once where there are several regions, and else by check() only.
    void deallocate(MemoryBlock block,
                    [[maybe_unused]] std::size_t alignment = kDefaultAlignment) noexcept override {
        if (region_count_ == 1) [[likely]] {
            regions_[0].heap->deallocate(block);
            return annotate::forbid(block);
        }
        deallocate_anywhere(block);
    }

    [[nodiscard]] Expected<MemoryBlock> reallocate(
        MemoryBlock block, std::size_t new_size, std::size_t alignment = kDefaultAlignment) noexcept override;

    [[nodiscard]] Expected<MemoryBlock> try_resize(
        MemoryBlock block, std::size_t new_size, std::size_t alignment = kDefaultAlignment) noexcept override;

    // Memory of the caller to allocate from as well, until it is removed or the allocator ends.
    // bad_alignment; out_of_range when it is too small; address_in_use when it overlaps a region;
    // capacity_exhausted beyond kMaxRegions.
    Expected<void> add_region(MemoryBlock memory) noexcept;
    // Requires nothing: not_found when it is no region that was added; busy while it holds blocks.
    Expected<void> remove_region(MemoryBlock memory) noexcept;
    [[nodiscard]] std::size_t region_count() const noexcept { return region_count_; }

    // Gives back what is not in use: the committed end of its own addresses, empty blocks of the other
    // resource. Returns how many bytes; none under a seal.
    std::size_t trim() noexcept;

    // Brings the registry of blocks up to date. Otherwise its entries are as they were when memory was last
    // taken or given back.
    void publish() noexcept {
        for (std::size_t i = 0; i < region_count_; ++i)
            publish(regions_[i]);
    }
    // The same for the one region that an address lies in, and the bytes in use there. Requires: one does.
    std::size_t publish_region_of(const void* address) noexcept;

    // How blocks changed their size so far, summed over the regions.
    [[nodiscard]] TlsfHeap::Stats heap_stats() const noexcept;

    [[nodiscard]] bool owns(const void* address) const noexcept override;
    [[nodiscard]] ResourceInfo info() const noexcept override;
    [[nodiscard]] ResourceStats stats() const noexcept override;
    [[nodiscard]] Status check() const noexcept override;

private:
    enum class Origin : std::uint8_t { own_range, upstream, caller };
    struct Region {
        TlsfHeap* heap = nullptr;
        MemoryBlock memory;
        Origin origin = Origin::caller;
        // Its own range lists itself.
        BlockRegistration listing;
    };

    TlsfAllocator(const char* name, Tag tag, MemoryResource* upstream, std::size_t region_bytes) noexcept
        : upstream_(upstream), region_bytes_(region_bytes), name_(name), tag_(tag) {}

    [[gnu::noinline]] Expected<MemoryBlock> allocate_anywhere(std::size_t size,
                                                              std::size_t alignment) noexcept;
    [[gnu::noinline]] void deallocate_anywhere(MemoryBlock block) noexcept;
    [[nodiscard]] Expected<MemoryBlock> try_regions(std::size_t size, std::size_t alignment) noexcept;
    [[nodiscard]] Status grow_for(std::size_t size, std::size_t alignment) noexcept;
    [[nodiscard]] Status grow_own_range(std::size_t bytes) noexcept;
    [[nodiscard]] std::size_t next_region_bytes() const noexcept;
    [[nodiscard]] Status take_region_for(std::size_t size, std::size_t alignment) noexcept;
    [[nodiscard]] Status adopt(MemoryBlock memory, std::size_t usable_bytes, Origin origin) noexcept;
    void drop_region(std::size_t index) noexcept;
    [[nodiscard]] std::size_t trim_own_range(Region& region) noexcept;
    // The region that an address lies in, or null.
    [[nodiscard]] const Region* find(const void* address) const noexcept;
    [[nodiscard]] std::size_t live_bytes() const noexcept;
    // Brings the registry of blocks up to date.
    void publish(Region& region) noexcept;
    // For AddressSanitizer: a block that was this before is that now.
    static void note_change(MemoryBlock before, MemoryBlock after) noexcept;
    void note_peak() noexcept;
    void steal(TlsfAllocator& other) noexcept;

    std::uint32_t region_count_ = 0;
    bool takes_regions_ = false;
    std::array<Region, kMaxRegions> regions_{};
    GrowingRange range_;
    MemoryResource* upstream_ = nullptr;
    std::size_t region_bytes_ = 0;
    // Of all regions together, kept while there are several; one alone keeps its own.
    std::size_t peak_bytes_ = 0;
    // Of regions that are gone.
    std::uint64_t past_allocations_ = 0;
    std::uint64_t failures_ = 0;
    const char* name_;
    Tag tag_;
};

}  // namespace ouro
