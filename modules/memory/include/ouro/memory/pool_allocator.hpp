#pragma once

#include <ouro/memory/detail/pool_owner.hpp>
#include <ouro/memory/memory_resource.hpp>
#include <ouro/memory/no_allocation_scope.hpp>
#include <ouro/memory/pool_core.hpp>

#include <cstddef>
#include <utility>

namespace ouro {

// Blocks of one size, taken and given back in any order in a few instructions, without headers and without
// fragmentation.
//
//     auto pool = PoolAllocator::create({.block_bytes = 64, .max_blocks = 100'000});
//     auto block = pool->allocate(50);    // the block has 64 bytes, and says so
//     pool->deallocate(*block);           // on any thread
//
// One thread owns the pool: the one that made it, until another binds it to itself. The owner allocates;
// every thread may deallocate. What others free goes through a lock-free list that the owner takes as a whole
// when it runs out of blocks, so that nobody ever waits for anybody. stats(), check() and all else are the
// owner's; they are exact while no other thread is freeing.
//
// LocalPoolAllocator is the same for one thread alone, without the question who is calling.
template <ThreadSafety kSafety>
class BasicPoolAllocator final : public MemoryResource {
    static_assert(kSafety != ThreadSafety::any_thread, "one thread at a time allocates from a pool");

public:
    using Options = PoolOptions;

    // On reserved addresses of its own, with a guard page at the end, committed as the pool grows. Fails with
    // zero_size, bad_alignment, size_overflow or bad_argument when the options make no sense, and as
    // os::reserve, os::commit and, with memory to prewarm, os::prefault do.
    [[nodiscard]] static Expected<BasicPoolAllocator> create(const Options& options) noexcept;
    // On one block of another resource, which must live longer, with room for all max_blocks. It has all its
    // memory from the beginning and gives none back before its end.
    [[nodiscard]] static Expected<BasicPoolAllocator> create_on(MemoryResource& upstream,
                                                                const Options& options) noexcept;

    // Requires of both: no other thread uses the pool. The owner stays who it was.
    BasicPoolAllocator(BasicPoolAllocator&& other) noexcept
        : core_(std::move(other.core_)), owner_(other.owner_), name_(other.name_) {}
    BasicPoolAllocator& operator=(BasicPoolAllocator&& other) noexcept {
        core_ = std::move(other.core_);
        owner_ = other.owner_;
        name_ = other.name_;
        return *this;
    }
    ~BasicPoolAllocator() = default;

    // A whole block, whatever less was asked for. Fails with capacity_exhausted for more than a block too.
    [[nodiscard]] Expected<MemoryBlock> allocate(
        std::size_t size, std::size_t alignment = kDefaultAlignment) noexcept override {
        if (!core_.serves(size, alignment)) [[unlikely]]
            return core_.refuse(size, alignment);
        return allocate_block();
    }

    void deallocate(MemoryBlock block,
                    [[maybe_unused]] std::size_t alignment = kDefaultAlignment) noexcept override {
        if (!block.is_null()) deallocate_block(block.data);
    }

    // The same without the questions about size and alignment that the caller has no need to ask.
    [[nodiscard]] Expected<MemoryBlock> allocate_block() noexcept {
        note_allocation();
        OURO_DEBUG_ASSERT(is_owner(), "only the owner's thread allocates from a pool");
        return core_.take();
    }
    // Requires: a block of this pool that is in use. Without asserts, one of another pool is noticed on other
    // threads at once, and on the owner's by check() only.
    void deallocate_block(void* block) noexcept {
        if (is_owner()) [[likely]]
            return core_.give_back(static_cast<std::byte*>(block));
        core_.give_back_remotely(static_cast<std::byte*>(block));
    }

    // In place, or not at all: every block has the same size.
    [[nodiscard]] Expected<MemoryBlock> reallocate(
        MemoryBlock block, std::size_t new_size, std::size_t alignment = kDefaultAlignment) noexcept override;

    [[nodiscard]] Expected<MemoryBlock> try_resize(
        MemoryBlock block, std::size_t new_size, std::size_t alignment = kDefaultAlignment) noexcept override;

    // The calling thread is the owner from now on. Requires: what the owner before did happened before this,
    // and it does no more.
    void bind_to_this_thread() noexcept { owner_.bind_to_this_thread(); }
    [[nodiscard]] bool is_owner() const noexcept { return owner_.is_this_thread(); }

    // Every block is free again, in one step. Requires: no other thread is freeing one.
    void reset() noexcept { core_.reset(); }

    // Gives the memory behind the last block in use back, as far as it is above the initial blocks; returns
    // the bytes, none under a seal. Costs as much as sorting the free blocks, which it does: those at low
    // addresses are used first from then on.
    std::size_t trim() noexcept { return core_.trim(); }

    // Brings the registry of blocks up to date. Otherwise its entry is as it was when memory was last
    // committed or given back.
    void publish() noexcept { core_.publish(); }

    [[nodiscard]] std::size_t block_bytes() const noexcept { return core_.block_bytes(); }
    [[nodiscard]] std::size_t live_blocks() const noexcept { return core_.live_blocks(); }

    [[nodiscard]] bool owns(const void* address) const noexcept override { return core_.owns(address); }
    [[nodiscard]] ResourceInfo info() const noexcept override;
    [[nodiscard]] ResourceStats stats() const noexcept override { return core_.stats(); }
    [[nodiscard]] PoolStats pool_stats() const noexcept { return core_.pool_stats(); }
    // Walks both lists of free blocks. A block freed twice shows as a count that is wrong or a list without
    // an end.
    [[nodiscard]] Status check() const noexcept override { return core_.check(); }

private:
    BasicPoolAllocator(PoolCore core, const char* name) noexcept : core_(std::move(core)), name_(name) {}

    PoolCore core_;
    [[no_unique_address]] detail::PoolOwner<kSafety> owner_;
    const char* name_;
};

extern template class BasicPoolAllocator<ThreadSafety::single_thread>;
extern template class BasicPoolAllocator<ThreadSafety::free_from_any_thread>;

using PoolAllocator = BasicPoolAllocator<ThreadSafety::free_from_any_thread>;
using LocalPoolAllocator = BasicPoolAllocator<ThreadSafety::single_thread>;

}  // namespace ouro
