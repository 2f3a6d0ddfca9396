#pragma once

#include <ouro/memory/annotations.hpp>
#include <ouro/memory/detail/block_assert.hpp>
#include <ouro/memory/growing_range.hpp>
#include <ouro/memory/memory_resource.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace ouro {

struct PoolOptions {
    const char* name = "pool";
    Tag tag = {};
    // Raised to a multiple of the alignment, and to the size of a pointer.
    std::size_t block_bytes = 64;
    // Of every block. Raised to that of a pointer.
    std::size_t alignment = kDefaultAlignment;
    // Memory for so many blocks is there from the beginning and never goes back.
    std::size_t initial_blocks = 0;
    std::size_t max_blocks = std::size_t{1} << 20;
    // How many times the memory it had a pool has after growing; at least one.
    double growth_factor = 2.0;
    // When fewer than this part of the blocks in memory are in use, freeing gives memory back by itself, as
    // trim() does and at its cost. Zero: only trim() does.
    double shrink_threshold = 0.0;
    // So much is in memory from the beginning, ready to be written without a fault: initial blocks have
    // memory promised, these have it. On addresses of its own only; trim() may give back what is above the
    // initial blocks.
    std::size_t prewarm_bytes = 0;
};

// What a pool has done beyond ResourceStats.
struct PoolStats {
    // Allocations served by blocks that were used before, and by blocks that never were.
    std::uint64_t reused = 0;
    std::uint64_t fresh = 0;
    // How often memory was added, and how often some was given back.
    std::uint64_t growths = 0;
    std::uint64_t shrinks = 0;
    // Blocks freed by threads other than the owner, and the most of them that waited for it at once.
    std::uint64_t remote_frees = 0;
    std::uint64_t longest_remote_queue = 0;

    [[nodiscard]] double hit_rate() const noexcept {
        const std::uint64_t all = reused + fresh;
        return all == 0 ? 0.0 : static_cast<double>(reused) / static_cast<double>(all);
    }
};

// Blocks of one size in one range: what pools are made of. Free blocks wait in three places. Those freed last
// lie in the magazine, an array of addresses: taking one does not wait for the block's own memory, as
// following a list through it would. What does not fit there goes to a list inside the blocks, half a
// magazine at a time. Blocks from other threads go to a second list, which the owner takes as a whole when it
// has nothing else. Only then a block that was never used is taken, so that the number of those is the most
// that were ever in use.
class PoolCore {
public:
    // On addresses of its own, or on one block of a resource that lives longer. Fails with zero_size,
    // bad_alignment, size_overflow, bad_argument (a growth factor below one, more initial blocks than the
    // most), and as GrowingRange does.
    [[nodiscard]] static Expected<PoolCore> reserve(const PoolOptions& options) noexcept;
    [[nodiscard]] static Expected<PoolCore> borrow(MemoryResource& upstream,
                                                   const PoolOptions& options) noexcept;

    PoolCore(PoolCore&& other) noexcept;
    PoolCore& operator=(PoolCore&& other) noexcept;
    ~PoolCore() = default;

    // One block. Fails with capacity_exhausted or out_of_memory.
    [[nodiscard]] Expected<MemoryBlock> take() noexcept {
        const std::uint64_t state = state_;
        const std::size_t count = count_of(state);
        if (count == 0) [[unlikely]]
            return take_slow();
        state_ = state + (kOneAllocation - 1);
        return known_block(magazine_[count - 1]);
    }

    // Requires: a block of this pool that is in use; on the owner's thread.
    void give_back(std::byte* block) noexcept {
        OURO_DEBUG_BLOCK_ASSERT(is_block(block), "this is no block of the pool", nullptr, block);
        OURO_EXPENSIVE_ASSERT(!is_in_magazine(block), "the block is free already");
        const std::uint64_t state = state_;
        if ((state & kFullBit) != 0) [[unlikely]]
            return give_back_slow(block);
        annotate::freed(range_.pool(), {block, block_bytes_});
        magazine_[count_of(state)] = block;
        state_ = state + 1;
    }

    // The same on any other thread. Takes no lock, and the owner never waits for it.
    void give_back_remotely(std::byte* block) noexcept;

    // Every block is free again, in one step. Requires: no other thread is freeing one.
    void reset() noexcept;

    // Gives the memory behind the last block in use back to the system, as far as it is above the initial
    // blocks; returns the bytes, none under a seal. Sorts the free blocks: those at low addresses are used
    // first from then on, so that the end has a chance to become free. Costs as much as sorting does.
    std::size_t trim() noexcept;

    // True when a block is large enough and aligned for the request. With the alignment that everybody has,
    // one comparison.
    [[nodiscard]] bool serves(std::size_t size, std::size_t alignment) const noexcept {
        if (alignment <= kDefaultAlignment && size - 1 < default_limit_) [[likely]]
            return is_alignment(alignment);
        return size - 1 < block_bytes_ && is_alignment(alignment) && alignment <= alignment_;
    }
    // What is wrong with a request that the pool does not serve; counts it as a failure.
    [[gnu::cold, gnu::noinline]] Status refuse(std::size_t size, std::size_t alignment) noexcept;

    [[nodiscard]] std::size_t block_bytes() const noexcept { return block_bytes_; }
    // For ResourceInfo.
    [[nodiscard]] std::span<const std::size_t> size_classes() const noexcept { return {&block_bytes_, 1}; }
    [[nodiscard]] std::size_t alignment() const noexcept { return alignment_; }
    [[nodiscard]] std::byte* begin() const noexcept { return begin_; }
    // Behind the last block that was ever used and not given back by trim() or reset() since.
    [[nodiscard]] std::byte* touched_end() const noexcept { return books_.fresh; }
    [[nodiscard]] std::size_t touched_blocks() const noexcept {
        return static_cast<std::size_t>(books_.fresh - begin_) / block_bytes_;
    }
    [[nodiscard]] std::size_t live_blocks() const noexcept;
    [[nodiscard]] bool owns(const void* address) const noexcept { return range_.whole().contains(address); }
    [[nodiscard]] bool is_block(const void* address) const noexcept;

    // Brings the registry of blocks up to date; growing and shrinking do it by themselves.
    void publish() noexcept;

    [[nodiscard]] ResourceStats stats() const noexcept;
    [[nodiscard]] PoolStats pool_stats() const noexcept;
    [[nodiscard]] Status check() const noexcept;

private:
    // In free blocks that are on a list, which may be used so far; all else of what is free is forbidden.
    struct Node {
        Node* next;
    };

    // What changes beside the magazine; plain values, so that moving a pool is copying them.
    struct Books {
        Node* list = nullptr;
        // The first block that was never used, and where those that have memory end.
        std::byte* fresh = nullptr;
        std::byte* fresh_end = nullptr;
        // Blocks that came to the list from the magazine, and that left it again. Those from other threads
        // are counted by these.
        std::uint64_t spilled = 0;
        std::uint64_t left_list = 0;
        std::uint64_t collected = 0;
        std::uint64_t longest_remote_queue = 0;
        // Blocks that were used and are fresh again, and the most in use before that happened.
        std::uint64_t forgotten = 0;
        std::size_t peak_blocks = 0;
        std::uint64_t failures = 0;
        std::uint64_t growths = 0;
        std::uint64_t shrinks = 0;
        // Trimming by itself was of no use with this many in use, and waits for half as many.
        std::size_t trim_below = ~std::size_t{0};
    };

    // What other threads write, away from what the owner uses all the time.
    struct alignas(64) RemoteFrees {
        std::atomic<Node*> head{nullptr};
        std::atomic<std::uint64_t> count{0};
    };

    static constexpr unsigned kFullShift = 8;
    static constexpr std::size_t kMagazineBlocks = std::size_t{1} << kFullShift;
    static constexpr std::size_t kMovedBlocks = kMagazineBlocks / 2;
    static constexpr std::uint64_t kFullBit = kMagazineBlocks;
    static constexpr std::uint64_t kOneAllocation = 2 * kFullBit;
    static constexpr std::uint64_t kCountMask = kOneAllocation - 1;

    PoolCore(GrowingRange range, const PoolOptions& options) noexcept;
    [[nodiscard]] static Expected<PoolOptions> complete(PoolOptions options) noexcept;
    [[nodiscard]] static Expected<std::size_t> bytes_for(const PoolOptions& complete_options,
                                                         std::size_t known_alignment) noexcept;

    [[nodiscard]] static constexpr std::size_t count_of(std::uint64_t state) noexcept {
        return static_cast<std::size_t>(state & kCountMask);
    }
    [[nodiscard]] Expected<MemoryBlock> known_block(std::byte* data) const noexcept {
        // Spares the caller the question whether there is a block.
        if (data == nullptr) __builtin_unreachable();
        annotate::allocated(range_.pool(), {data, block_bytes_});
        return MemoryBlock{data, block_bytes_};
    }
    [[nodiscard]] std::size_t in_magazine() const noexcept { return count_of(state_); }
    [[nodiscard]] std::uint64_t on_lists() const noexcept;

    [[gnu::cold, gnu::noinline]] Expected<MemoryBlock> take_slow() noexcept;
    [[gnu::cold, gnu::noinline]] void give_back_slow(std::byte* block) noexcept;
    [[nodiscard]] Expected<MemoryBlock> take_fresh() noexcept;
    [[nodiscard]] Node* collect_remote() noexcept;
    void refill() noexcept;
    void spill(std::size_t count) noexcept;
    [[nodiscard]] Status grow() noexcept;
    [[nodiscard]] std::size_t bytes_with(std::size_t blocks) const noexcept;
    void note_usable() noexcept;
    [[nodiscard]] bool wants_trim() const noexcept;
    void cut_free_end() noexcept;
    void note_peak() noexcept;
    // The number of nodes, or more than the limit when the list does not end or has a node that is no block.
    [[nodiscard]] std::size_t walk(const Node* list, std::size_t limit) const noexcept;
    [[nodiscard]] bool is_in_magazine(const std::byte* block) const noexcept;

    // The number of blocks in the magazine in the low bits and the number of allocations above them, so that
    // both change in one addition. Enough for a year of nothing but allocations of a nanosecond.
    std::uint64_t state_ = 0;
    std::size_t block_bytes_;
    std::size_t alignment_;
    // The most bytes there are in a block with the default alignment: all or none.
    std::size_t default_limit_;
    std::array<std::byte*, kMagazineBlocks> magazine_;
    std::byte* begin_;
    Books books_;
    std::size_t initial_blocks_;
    std::size_t max_blocks_;
    double growth_factor_;
    double shrink_threshold_;
    GrowingRange range_;
    RemoteFrees remote_;
};

}  // namespace ouro
