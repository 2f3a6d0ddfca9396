#pragma once

#include <ouro/memory/memory_resource.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace ouro {

// Keeps the storage of dead collections for the next ones. Sizes are rounded up to powers of two, so that the
// block of one vector fits the next of about its size, whatever their types; the rounding is not lost, since
// the block says its size and a vector uses all of it.
//
//     CapacityPool pool(heap);
//     PooledVector<Contact> contacts(pool);    // its blocks come back here, and are handed out again
//
// Requests larger than the largest class, or aligned to more than kBlockAlignment, pass through untouched.
// Blocks kept are chained through their own first bytes: the pool needs no memory of its own.
class CapacityPool final : public MemoryResource {
public:
    static constexpr std::size_t kSmallestBytes = 64;
    // Of every pooled block: a cache line, so that any SIMD load within the block's first line is aligned.
    static constexpr std::size_t kBlockAlignment = 64;

    struct Options {
        const char* name = "capacity pool";
        // Rounded down to a power of two.
        std::size_t largest_block_bytes = std::size_t{16} << 20;
        // What may lie idle; beyond it, blocks go back to the upstream.
        std::size_t max_kept_bytes = ~std::size_t{0};
    };

    struct PoolStats {
        // Allocations answered with a kept block, and those that the upstream was asked for.
        std::uint64_t reused = 0;
        std::uint64_t fetched = 0;
        std::size_t kept_blocks = 0;
        std::size_t kept_bytes = 0;
    };

    explicit CapacityPool(MemoryResource& upstream) noexcept : CapacityPool(upstream, Options{}) {}
    // The upstream must live longer.
    CapacityPool(MemoryResource& upstream, const Options& options) noexcept;
    // Returns what is kept. Requires: all blocks were given back (debug assert).
    ~CapacityPool();
    CapacityPool(const CapacityPool&) = delete;
    CapacityPool& operator=(const CapacityPool&) = delete;

    [[nodiscard]] Expected<MemoryBlock> allocate(std::size_t size,
                                                 std::size_t alignment = kDefaultAlignment) noexcept override;
    void deallocate(MemoryBlock block, std::size_t alignment = kDefaultAlignment) noexcept override;
    // Within one class nothing moves. To another, a kept block is taken, else the upstream changes the block.
    [[nodiscard]] Expected<MemoryBlock> reallocate(
        MemoryBlock block, std::size_t new_size, std::size_t alignment = kDefaultAlignment) noexcept override;

    // Gives kept blocks back until at most so many bytes are kept, the largest first; returns the bytes
    // given.
    std::size_t trim(std::size_t keep_bytes = 0) noexcept;

    // As the upstream answers.
    [[nodiscard]] bool owns(const void* address) const noexcept override { return upstream_.owns(address); }
    [[nodiscard]] ResourceInfo info() const noexcept override;
    [[nodiscard]] ResourceStats stats() const noexcept override;
    [[nodiscard]] PoolStats pool_stats() const noexcept { return pool_stats_; }
    [[nodiscard]] Status check() const noexcept override;

private:
    struct Kept {
        Kept* next;
    };
    // Up to 2 GiB, which a 32-bit size can still say.
    static constexpr unsigned kClasses = 26;

    [[nodiscard]] static constexpr std::size_t class_bytes(unsigned index) noexcept {
        return kSmallestBytes << index;
    }
    [[nodiscard]] static unsigned class_of(std::size_t size) noexcept;
    [[nodiscard]] bool is_pooled(std::size_t size, std::size_t alignment) const noexcept {
        return size <= largest_bytes_ && alignment <= kBlockAlignment;
    }
    [[nodiscard]] Expected<MemoryBlock> allocate_direct(std::size_t size, std::size_t alignment) noexcept;
    [[nodiscard]] Expected<MemoryBlock> reallocate_direct(MemoryBlock block, std::size_t new_size,
                                                          std::size_t alignment) noexcept;
    [[nodiscard]] Expected<MemoryBlock> reallocate_class(MemoryBlock block, unsigned new_class) noexcept;
    [[nodiscard]] MemoryBlock take_kept(unsigned index) noexcept;
    void keep(std::byte* data, unsigned index) noexcept;
    void count_live(std::size_t bytes) noexcept;
    [[nodiscard]] Status fail(Status status) noexcept;

    MemoryResource& upstream_;
    const char* name_;
    std::size_t largest_bytes_;
    std::size_t max_kept_bytes_;
    std::array<Kept*, kClasses> kept_{};
    PoolStats pool_stats_;
    ResourceStats stats_;
};

}  // namespace ouro
