#pragma once

#include <ouro/memory/annotations.hpp>
#include <ouro/memory/growing_range.hpp>
#include <ouro/memory/memory_resource.hpp>

#include <cstddef>
#include <cstdint>

namespace ouro {

// A cursor that moves through a range: what frames and stacks are made of. Counts what a report wants to
// know, and nothing that the hot path would feel.
class BumpRange {
public:
    constexpr BumpRange() noexcept = default;
    explicit BumpRange(GrowingRange range) noexcept;
    BumpRange(BumpRange&& other) noexcept;
    BumpRange& operator=(BumpRange&& other) noexcept;
    ~BumpRange() = default;

    [[nodiscard]] Expected<MemoryBlock> take(std::size_t size, std::size_t alignment) noexcept {
        const std::uintptr_t start = (cursor_ + (alignment - 1)) & ~(alignment - 1);
        const bool fits = start <= limit_ && size <= limit_ - start;
        if (check_allocation(size, alignment) == Status::ok && fits) [[likely]] {
            cursor_ = start + size;
            ++allocations_;
            const MemoryBlock block{reinterpret_cast<std::byte*>(start), size};
            annotate::allocated(range_.pool(), block);
            return block;
        }
        return take_slow(size, alignment);
    }

    // Asks the processor for memory that will be handed out soon. Its own prefetching ends with the page,
    // where the translation of the next address is missing too, so this looks further. A prefetch never
    // faults and may reach behind the end.
    void fetch_ahead() const noexcept {
        __builtin_prefetch(reinterpret_cast<const void*>(cursor_ + kFetchAheadBytes), 1);
    }

    [[nodiscard]] bool is_newest(MemoryBlock block) const noexcept {
        return !block.is_null() && reinterpret_cast<std::uintptr_t>(block.end()) == cursor_;
    }

    // Requires: the newest block. What its alignment skipped is found again with the block below it.
    void give_back(MemoryBlock newest) noexcept {
        note_peak();
        move_back_to(reinterpret_cast<std::uintptr_t>(newest.data));
    }

    // Counts a request that was refused before it came here.
    Status refuse(Status status) noexcept {
        ++failures_;
        return status;
    }

    // Requires: the newest block. Fails as take does, and leaves it as it was; does not count that.
    [[nodiscard]] Expected<MemoryBlock> resize(MemoryBlock newest, std::size_t new_size) noexcept;

    // Requires: used_bytes <= used_bytes().
    void cut_to(std::size_t used_bytes) noexcept {
        note_peak();
        move_back_to(begin_address() + used_bytes);
    }

    // Gives back memory beyond the first `bytes` that is not in use.
    void shrink(std::size_t bytes) noexcept;

    // Brings the registry of blocks up to date; growing and shrinking do it by themselves.
    void publish() noexcept { range_.publish(used_bytes(), peak_bytes()); }

    [[nodiscard]] std::size_t used_bytes() const noexcept { return cursor_ - begin_address(); }
    [[nodiscard]] std::size_t committed_bytes() const noexcept { return range_.usable_bytes(); }
    [[nodiscard]] bool owns(const void* address) const noexcept { return range_.whole().contains(address); }

    // The most in use at once since the last forget_peak(), and since the beginning.
    [[nodiscard]] std::size_t recent_peak_bytes() const noexcept;
    [[nodiscard]] std::size_t peak_bytes() const noexcept;
    void forget_recent_peak() noexcept;

    // Everything but live_blocks.
    [[nodiscard]] ResourceStats stats() const noexcept;
    [[nodiscard]] Status check() const noexcept;

private:
    static constexpr std::size_t kFetchAheadBytes = 8 * 1024;

    [[nodiscard]] std::uintptr_t begin_address() const noexcept {
        return reinterpret_cast<std::uintptr_t>(range_.whole().data);
    }
    void note_peak() noexcept {
        if (used_bytes() > recent_peak_bytes_) recent_peak_bytes_ = used_bytes();
    }
    void move_back_to(std::uintptr_t cursor) noexcept {
        if constexpr (annotate::kActive) annotate_free_from(cursor);
        cursor_ = cursor;
    }
    void annotate_free_from(std::uintptr_t cursor) const noexcept;
    [[gnu::cold, gnu::noinline]] Expected<MemoryBlock> take_slow(std::size_t size,
                                                                 std::size_t alignment) noexcept;
    // The bytes from the front that a block needs, or what is wrong with it.
    [[nodiscard]] Expected<std::size_t> end_of(std::size_t size, std::size_t alignment) const noexcept;
    [[nodiscard]] Status grow(std::size_t bytes) noexcept;

    std::uintptr_t cursor_ = 0;
    // The end of the usable part.
    std::uintptr_t limit_ = 0;
    std::uint64_t allocations_ = 0;
    std::uint64_t failures_ = 0;
    std::size_t recent_peak_bytes_ = 0;
    std::size_t peak_bytes_ = 0;
    GrowingRange range_;
};

}  // namespace ouro
