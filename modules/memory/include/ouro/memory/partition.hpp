#pragma once

#include <ouro/memory/memory_resource.hpp>
#include <ouro/memory/partition_span.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
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
    // Addresses of its own, in whole spans.
    std::size_t max_bytes = std::size_t{1} << (sizeof(void*) == 8 ? 30 : 23);
    PartitionGuards guards = PartitionGuards::none;
    // single_thread, or any_thread, where each call takes a lock; different partitions never wait for each
    // other. (free_from_any_thread counts as any_thread.)
    ThreadSafety thread_safety = ThreadSafety::single_thread;
    // How much memory of empty spans to keep for the next ones.
    std::size_t keep_empty_bytes = std::size_t{1} << 20;
};

// One part of a PartitionAllocator: a heap of size classes on addresses that no other part ever uses, so that
// a stale pointer into it meets only things of its own kind. Spans of addresses get memory when they are
// needed and lose it when they are empty; the addresses stay. Its bookkeeping lies elsewhere, as bits:
// nothing that a program writes into blocks, free ones included, can mislead it. Freeing what is no block of
// it, or free already, asserts in every build.
class Partition final : public MemoryResource {
public:
    Partition(const Partition&) = delete;
    Partition& operator=(const Partition&) = delete;

    // Beside what the contract says, fails with too_many_mappings where guards need them.
    [[nodiscard]] Expected<MemoryBlock> allocate(
        std::size_t size, std::size_t alignment = kDefaultAlignment) noexcept override {
        if (size - 1 < partition::kMaxSlotBytes && alignment <= partition::kSlotUnit &&
            is_alignment(alignment) && !is_locked_) [[likely]] {
            partition::Span* span = current_[partition::class_of(size)];
            if (span != nullptr && span->summary != 0) [[likely]]
                return take_from(*span);
        }
        return allocate_slow(size, alignment);
    }

    void deallocate(MemoryBlock block, std::size_t alignment = kDefaultAlignment) noexcept override {
        const std::size_t offset = offset_of(block.data);
        if (offset < bytes_ && !is_locked_) [[likely]] {
            partition::Span& span = spans_[offset / partition::kSpanBytes];
            const std::size_t in_span = offset % partition::kSpanBytes;
            const std::uint32_t slot = span.slot_at(in_span);
            if (slot < span.capacity && slot * span.slot_bytes == in_span) [[likely]] {
                give_back(span, slot, block.size);
                return;
            }
        }
        deallocate_slow(block, alignment);
    }

    [[nodiscard]] Expected<MemoryBlock> reallocate(
        MemoryBlock block, std::size_t new_size, std::size_t alignment = kDefaultAlignment) noexcept override;

    // Gives the memory of all empty spans back, and returns how many bytes that were.
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

    [[nodiscard]] Expected<MemoryBlock> take_from(partition::Span& span) noexcept {
        const MemoryBlock block{span.take_slot(), span.slot_bytes};
        ++allocations_;
        add_live(block.size);
        return block;
    }

    void give_back(partition::Span& span, std::uint32_t slot, [[maybe_unused]] std::size_t size) noexcept {
        OURO_ASSERT(!span.is_slot_free(slot), "the block is free already");
        OURO_DEBUG_ASSERT(size <= span.slot_bytes, "the block was never that large");
        span.give_slot(slot);
        ++frees_;
        live_bytes_ -= span.slot_bytes;
        if (span.free_count == 1 || span.free_count == span.capacity) note_change(span);
    }

    void add_live(std::size_t bytes) noexcept {
        live_bytes_ += bytes;
        if (live_bytes_ > peak_bytes_) peak_bytes_ = live_bytes_;
    }

    [[gnu::noinline]] Expected<MemoryBlock> allocate_slow(std::size_t size, std::size_t alignment) noexcept;
    [[gnu::noinline]] void deallocate_slow(MemoryBlock block, std::size_t alignment) noexcept;
    // After the first slot of a full span, or the last one taken, came back.
    [[gnu::noinline]] void note_change(partition::Span& span) noexcept;

    [[nodiscard]] Expected<MemoryBlock> find_block(std::size_t size, std::size_t alignment) noexcept;
    // kClassCount when no slot serves.
    [[nodiscard]] std::uint32_t class_for(std::size_t size, std::size_t alignment) const noexcept;
    [[nodiscard]] Status enter_span(std::uint32_t class_index) noexcept;
    [[nodiscard]] Expected<partition::Span*> new_span() noexcept;
    [[nodiscard]] std::size_t usable_span_bytes() const noexcept;

    [[nodiscard]] Expected<MemoryBlock> allocate_large(std::size_t size, std::size_t alignment) noexcept;
    void free_large(partition::Span& span) noexcept;
    [[nodiscard]] Expected<MemoryBlock> resize_large(partition::Span& span, std::size_t new_size) noexcept;
    [[nodiscard]] Expected<std::uint32_t> find_run(std::size_t count, std::size_t alignment) const noexcept;
    [[nodiscard]] std::size_t free_run_length(std::size_t first, std::size_t most) const noexcept;
    void claim_run(std::uint32_t first, std::size_t count) noexcept;
    void release_run(std::uint32_t first, std::size_t count) noexcept;

    [[nodiscard]] Status commit(MemoryBlock block) noexcept;
    [[nodiscard]] Status decommit(MemoryBlock block) noexcept;
    // Gives memory back until so many empty spans are left; false when that changed nothing.
    bool drop_empty_spans(std::size_t kept) noexcept;

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
    [[nodiscard]] bool is_span_sound(std::uint32_t index, ResourceStats& found) const noexcept;

    // The hot ones first: a call reads these, a class's span and its metadata.
    std::byte* base_;
    std::size_t bytes_;
    partition::Span* spans_;
    bool is_locked_;
    bool commits_;
    PartitionGuards guards_;
    std::size_t live_bytes_ = 0;
    std::size_t peak_bytes_ = 0;
    std::uint64_t allocations_ = 0;
    std::uint64_t frees_ = 0;
    std::array<partition::Span*, partition::kClassCount> current_{};
    // Spans with free slots that are not current, one list a class; and spans without any taken slot.
    std::array<std::uint32_t, partition::kClassCount> partial_;
    std::uint32_t empty_ = partition::kNoSpan;
    std::size_t empty_count_ = 0;
    std::size_t keep_empty_count_;
    std::size_t committed_bytes_ = 0;
    std::uint64_t failures_ = 0;
    std::span<std::uint64_t> unused_spans_;
    const char* name_;
    mutable std::atomic<std::uint32_t> lock_word_{0};
};

}  // namespace ouro
