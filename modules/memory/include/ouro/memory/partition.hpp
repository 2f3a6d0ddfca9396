#pragma once

#include <ouro/memory/annotations.hpp>
#include <ouro/memory/block_registry.hpp>
#include <ouro/memory/detail/block_assert.hpp>
#include <ouro/memory/detail/word_lock.hpp>
#include <ouro/memory/memory_resource.hpp>
#include <ouro/memory/no_allocation_scope.hpp>
#include <ouro/memory/partition_span.hpp>
#include <ouro/memory/small_object_allocator.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace ouro {

// Where a partition puts pages that fault when they are touched. Needs pages smaller than a span: not in
// wasm32.
enum class PartitionGuards : std::uint8_t {
    none,
    // Behind each span and each large block.
    spans,
    // Behind each block, which ends right before it as far as its alignment allows; freed blocks fault as
    // well. A block then takes whole pages, addresses of a span and two mappings: for hunting bugs.
    blocks,
};

struct PartitionOptions {
    const char* name = "partition";
    Tag tag = {};
    // Addresses of its own, in whole spans. With any_thread, each thread that uses it takes
    // Partition::kThreadBytes of them for its caches.
    std::size_t max_bytes = std::size_t{1} << (sizeof(void*) == 8 ? 30 : 23);
    PartitionGuards guards = PartitionGuards::none;
    // single_thread, or any_thread: then the partition is a small-object heap, in which no thread waits for
    // another. Guards are an aid for hunting bugs: with them and any_thread, each call takes the partition's
    // lock instead. (free_from_any_thread counts as any_thread.)
    ThreadSafety thread_safety = ThreadSafety::single_thread;
    // How much memory of empty spans to keep for the next ones. Without a lock, any_thread keeps beyond that
    // as much as is in use, or was lately.
    std::size_t keep_empty_bytes = std::size_t{1} << 20;
};

// One part of a PartitionAllocator: a heap of size classes on addresses that no other part ever uses, so that
// a stale pointer into it meets only things of its own kind. Spans of addresses get memory when they are
// needed and lose it when they are empty; the addresses stay. Some freed blocks of each size are kept at
// hand. Its bookkeeping lies elsewhere, as bits: nothing that a program writes into blocks, free ones
// included, can mislead it. Freeing what is no block of it, or free already, asserts in every build.
//
// With any_thread and without guards it is a SmallObjectAllocator on addresses of its own, and some of this
// is different:
// - Freeing a block of another partition asserts at once. One that is freed twice goes through the caches of
//   threads first, and asserts when it comes home: when a cache overflows, its thread ends or trim() empties
//   it. Until then it may be handed out twice. An address in the middle of a block is noticed when the block
//   is a large one. check() finds both as long as they are in a cache.
// - The caches of threads lie in spans of the partition, and so do the parcels in which they tell each other
//   about blocks on the way home: stray writes can reach those. The rest lies elsewhere, and nothing in
//   blocks.
// - Memory that goes back is taken from behind its addresses, which then read zero and do not fault;
//   committed_bytes are those of addresses that ever had memory.
// - check() requires that nobody uses the partition meanwhile.
class Partition final : public MemoryResource {
public:
    // What a thread's caches take of the addresses of a partition for any thread; at most, where those are
    // few.
    static constexpr std::size_t kThreadBytes =
        align_up(detail::ThreadHeap::bytes_with(0), partition::kSpanBytes);

    Partition(const Partition&) = delete;
    Partition& operator=(const Partition&) = delete;
    ~Partition();

    // Beside what the contract says, fails with too_many_mappings where guards need them.
    [[nodiscard]] Expected<MemoryBlock> allocate(
        std::size_t size, std::size_t alignment = kDefaultAlignment) noexcept override {
        note_allocation();
        if (size - 1 < partition::kMaxSlotBytes && alignment <= partition::kSlotUnit &&
            is_alignment(alignment) && !is_shared_) [[likely]] {
            const std::uint32_t index = partition::class_of(size);
            if (caches_[index].count != 0) [[likely]]
                return take_cached(index);
        }
        return allocate_slow(size, alignment);
    }

    void deallocate(MemoryBlock block, std::size_t alignment = kDefaultAlignment) noexcept override {
        const std::size_t offset = offset_of(block.data);
        if (offset < bytes_ && offset % partition::kSlotUnit == 0 && !is_shared_) [[likely]] {
            partition::Span& span = spans_[offset / partition::kSpanBytes];
            partition::Cache& cache = caches_[span.class_index];
            if (span.is_taken(unit_of(offset)) && cache.count < cache.limit) [[likely]] {
                give_cached(span, block);
                return;
            }
        }
        deallocate_slow(block, alignment);
    }

    [[nodiscard]] Expected<MemoryBlock> reallocate(
        MemoryBlock block, std::size_t new_size, std::size_t alignment = kDefaultAlignment) noexcept override;

    // Slots within their size, large blocks by whole pages; for any thread within a size class, and by whole
    // spans.
    [[nodiscard]] Expected<MemoryBlock> try_resize(
        MemoryBlock block, std::size_t new_size, std::size_t alignment = kDefaultAlignment) noexcept override;

    // Gives back the memory of every span without a block in use, and returns how many bytes that were. None
    // under a seal. For any thread, what threads keep that are allocating at that moment stays, and so does
    // what other threads keep where the platform has no process barrier.
    std::size_t trim() noexcept;

    // The addresses that belong to this partition alone.
    [[nodiscard]] MemoryBlock addresses() const noexcept { return {base_, bytes_}; }
    [[nodiscard]] PartitionGuards guards() const noexcept { return guards_; }

    [[nodiscard]] bool owns(const void* address) const noexcept override {
        return addresses().contains(address);
    }
    [[nodiscard]] ResourceInfo info() const noexcept override;
    [[nodiscard]] ResourceStats stats() const noexcept override;
    [[nodiscard]] Status check() const noexcept override;

private:
    friend class PartitionAllocator;

    // What a partition is made on: its addresses, and the memory of its bookkeeping, which reads zero.
    struct Site {
        MemoryBlock addresses;
        std::span<std::uint64_t> unused_spans;
        partition::Span* spans = nullptr;
        // False where the addresses are a block of another resource and always have memory.
        bool commits = true;
    };

    // Holds the lock where there is one.
    class Lock;

    Partition(const PartitionOptions& options, const Site& site) noexcept;
    // For any thread: the heap has the addresses, and everything else.
    Partition(const PartitionOptions& options, SmallObjectAllocator heap) noexcept;

    // Whether a partition is a heap for any thread.
    [[nodiscard]] static bool needs_heap(const PartitionOptions& options) noexcept {
        return options.thread_safety != ThreadSafety::single_thread &&
               options.guards == PartitionGuards::none;
    }

    // Requires: a slot in the cache.
    [[nodiscard]] MemoryBlock take_cached(std::uint32_t index) noexcept {
        partition::Cache& cache = caches_[index];
        std::byte* slot = cache.slots[--cache.count];
        const std::size_t offset = offset_of(slot);
        spans_[offset / partition::kSpanBytes].set_taken(unit_of(offset));
        ++allocations_;
        add_live(partition::kClassBytes[index]);
        annotate::allocated(this, {slot, partition::kClassBytes[index]});
        return {slot, partition::kClassBytes[index]};
    }

    // Requires: the block's slot is taken, and the cache has room.
    void give_cached(partition::Span& span, MemoryBlock block) noexcept {
        OURO_DEBUG_BLOCK_ASSERT(block.size <= partition::kClassBytes[span.class_index],
                                "the block was never that large", *this, block.data);
        partition::Cache& cache = caches_[span.class_index];
        span.clear_taken(unit_of(offset_of(block.data)));
        cache.slots[cache.count++] = block.data;
        ++frees_;
        live_bytes_ -= partition::kClassBytes[span.class_index];
        annotate::freed(this, {block.data, partition::kClassBytes[span.class_index]});
    }

    // The unit in its span.
    [[nodiscard]] static std::size_t unit_of(std::size_t offset) noexcept {
        return offset % partition::kSpanBytes / partition::kSlotUnit;
    }

    void add_live(std::size_t bytes) noexcept {
        live_bytes_ += bytes;
        if (live_bytes_ > peak_bytes_) peak_bytes_ = live_bytes_;
    }

    // Whatever the inline paths do not serve; calls for any thread are among it and the first to be sent on.
    [[gnu::noinline]] Expected<MemoryBlock> allocate_slow(std::size_t size, std::size_t alignment) noexcept;
    [[gnu::noinline]] void deallocate_slow(MemoryBlock block, std::size_t alignment) noexcept;
    [[gnu::noinline]] Expected<MemoryBlock> allocate_here(std::size_t size, std::size_t alignment) noexcept;
    [[gnu::noinline]] void deallocate_here(MemoryBlock block, std::size_t alignment) noexcept;

    // Takes slots of the class's current span, or of another that becomes it.
    [[nodiscard]] Status refill(std::uint32_t class_index) noexcept;
    // Gives the oldest slots of the cache back to their spans.
    void flush(std::uint32_t class_index, std::uint32_t count) noexcept;
    // After the first slot of a span without free ones, or the last one missing, came back.
    void note_change(partition::Span& span) noexcept;

    [[nodiscard]] Expected<MemoryBlock> find_block(std::size_t size, std::size_t alignment) noexcept;
    // kClassCount when no slot serves.
    [[nodiscard]] std::uint32_t class_for(std::size_t size, std::size_t alignment) const noexcept;
    [[nodiscard]] Status enter_span(std::uint32_t class_index) noexcept;
    [[nodiscard]] Expected<partition::Span*> new_span() noexcept;
    [[nodiscard]] std::size_t usable_span_bytes() const noexcept;

    [[nodiscard]] Expected<MemoryBlock> allocate_large(std::size_t size, std::size_t alignment) noexcept;
    void free_large(partition::Span& span) noexcept;
    [[nodiscard]] Expected<MemoryBlock> resize_large(partition::Span& span, std::size_t new_size) noexcept;
    // Where a run of unused spans begins for so many bytes at its front, with memory where there is no more.
    [[nodiscard]] Expected<std::uint32_t> choose_run(std::size_t count, std::size_t bytes,
                                                     std::size_t alignment) noexcept;
    [[nodiscard]] Expected<std::uint32_t> find_kept_run(std::size_t bytes,
                                                        std::size_t alignment) const noexcept;
    [[nodiscard]] Expected<std::uint32_t> find_run(std::size_t count, std::size_t alignment) const noexcept;
    [[nodiscard]] std::size_t free_run_length(std::size_t first, std::size_t most) const noexcept;
    void claim_run(std::uint32_t first, std::size_t count) noexcept;
    void release_run(std::uint32_t first, std::size_t count) noexcept;

    // Memory for at least so many bytes at the front of a run of unused spans; returns for how many.
    [[nodiscard]] Expected<std::size_t> commit_run(std::uint32_t first, std::size_t bytes) noexcept;
    [[nodiscard]] Status commit(MemoryBlock block) noexcept;
    [[nodiscard]] Status decommit(MemoryBlock block) noexcept;
    void give_back(MemoryBlock pages) noexcept;
    // Leaves the memory of a freed large block with its spans. Requires: no guards.
    void keep_memory(partition::Span& span, std::size_t bytes) noexcept;
    // Gives back what was kept so.
    void drop_kept() noexcept;
    // Brings the registry of blocks up to date.
    void publish() noexcept { listing_.update_silently(committed_bytes_, live_bytes_, peak_bytes_); }
    // Gives memory back until so many empty spans are left.
    void drop_empty_spans(std::size_t kept) noexcept;
    // Frees the addresses and memory of all spans without a block in use; false when there was none.
    bool reclaim() noexcept;

    void link(std::uint32_t& head, partition::Span& span) noexcept;
    void unlink(std::uint32_t& head, partition::Span& span) noexcept;
    // Beyond bytes_ for addresses of others.
    [[nodiscard]] std::size_t offset_of(const std::byte* address) const noexcept {
        return reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(base_);
    }
    [[nodiscard]] std::uint32_t index_of(const partition::Span& span) const noexcept {
        return static_cast<std::uint32_t>(&span - spans_);
    }
    [[nodiscard]] bool is_list_sound(std::uint32_t head, partition::SpanKind kind, std::uint32_t class_index,
                                     std::size_t& seen) const noexcept;
    [[nodiscard]] bool is_cache_sound(std::uint32_t class_index) const noexcept;
    [[nodiscard]] bool is_span_sound(std::uint32_t index, ResourceStats& found) const noexcept;

    // The hot ones first.
    std::byte* base_;
    std::size_t bytes_;
    partition::Span* spans_;
    // For any thread: the inline paths leave it to the others.
    bool is_shared_;
    bool commits_;
    PartitionGuards guards_;
    std::size_t live_bytes_ = 0;
    std::size_t peak_bytes_ = 0;
    std::uint64_t allocations_ = 0;
    std::uint64_t frees_ = 0;
    std::array<partition::Cache, partition::kClassCount> caches_{};
    // The span that refills a class's cache, or null.
    std::array<partition::Span*, partition::kClassCount> current_{};
    // Spans with free slots that are not current, one list a class; and spans without any taken slot.
    std::array<std::uint32_t, partition::kClassCount> partial_;
    std::uint32_t empty_ = partition::kNoSpan;
    std::size_t empty_count_ = 0;
    std::size_t keep_empty_count_;
    std::size_t committed_bytes_ = 0;
    // The part of it that unused spans have.
    std::size_t kept_bytes_ = 0;
    std::uint64_t failures_ = 0;
    BlockRegistration listing_;
    std::span<std::uint64_t> unused_spans_;
    const char* name_;
    // For any thread, with guards.
    mutable std::optional<detail::ForkSafeLock> lock_;
    // Where there is one, nothing from the caches on is in use.
    std::optional<SmallObjectAllocator> heap_;
};

}  // namespace ouro
