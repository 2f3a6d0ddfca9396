#pragma once

#include <ouro/base/memory_block.hpp>
#include <ouro/memory/annotations.hpp>
#include <ouro/memory/block_registry.hpp>
#include <ouro/memory/detail/block_assert.hpp>
#include <ouro/memory/memory_resource.hpp>
#include <ouro/memory/no_allocation_scope.hpp>
#include <ouro/os/reservation.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace ouro {

enum class StackEnd : std::uint8_t { front, back };

// Two stacks in one range that grow towards each other: what stays on one side, what is needed for a moment
// on the other, and neither needs to know how much the other leaves it. Each end insists on its order, as
// StackAllocator does; where the ends would meet, allocate fails with capacity_exhausted.
//
//     auto stack = TwoEndedStack::create({.max_bytes = std::size_t{64} << 20});
//     auto level = stack->front().allocate(level_bytes);       // stays
//     {
//         TwoEndedStack::Scope scope(stack->back());
//         auto scratch = stack->back().allocate(file_bytes);    // is gone after loading
//     }
class TwoEndedStack {
public:
    struct Options {
        const char* name = "two-ended stack";
        Tag tag = {};
        std::size_t max_bytes = std::size_t{64} << 20;
        std::size_t commit_step_bytes = std::size_t{64} << 10;
    };

    // A height of one end: popping to it frees all that was allocated above.
    struct Marker {
        std::size_t used_bytes = 0;
        std::size_t live_blocks = 0;
        StackEnd end = StackEnd::front;
    };

    class End;
    class Scope;

    // On reserved addresses of its own, with guard pages around. Fails as os::reserve does.
    [[nodiscard]] static Expected<TwoEndedStack> create(const Options& options) noexcept;
    // On one block of another resource, which must live longer.
    [[nodiscard]] static Expected<TwoEndedStack> create_on(MemoryResource& upstream, std::size_t bytes,
                                                           const char* name = "two-ended stack") noexcept;

    // Moving leaves references to the ends behind: take them from the new stack.
    TwoEndedStack(TwoEndedStack&& other) noexcept;
    TwoEndedStack& operator=(TwoEndedStack&& other) noexcept;
    ~TwoEndedStack();

    [[nodiscard]] End& front() noexcept;
    [[nodiscard]] End& back() noexcept;

    // What lies between the ends.
    [[nodiscard]] std::size_t free_bytes() const noexcept { return range_.cursor[1] - range_.cursor[0]; }
    // Gives whole pages between the ends back to the system; a block of another resource stays as it is, and
    // so does everything under a seal.
    void trim() noexcept {
        range_.trim();
        range_.publish();
    }
    // As of the resources at both ends.
    [[nodiscard]] Status check() const noexcept;

private:
    // What both ends share. Index 0 is the front's, 1 the back's. Memory reaches from the begin to limit[0]
    // and from limit[1] to the end, and each cursor stands in its own part; once the limits have met, all is
    // usable and the cursors go anywhere.
    struct Range {
        [[nodiscard]] bool is_all_usable() const noexcept { return limit[0] == limit[1]; }
        [[nodiscard]] Status make_usable(StackEnd end, std::uintptr_t cursor) noexcept;
        void trim() noexcept;
        [[nodiscard]] std::size_t committed_bytes() const noexcept {
            return is_all_usable() ? whole.size : whole.size - (limit[1] - limit[0]);
        }
        // Brings the registry of blocks up to date.
        void publish() noexcept { listing.update(committed_bytes(), whole.size - (cursor[1] - cursor[0])); }
        [[nodiscard]] std::uintptr_t begin() const noexcept {
            return reinterpret_cast<std::uintptr_t>(whole.data);
        }
        [[nodiscard]] std::uintptr_t end() const noexcept { return begin() + whole.size; }

        // What sanitizers know: each end is a pool of its own.
        void tell_sanitizers() noexcept;
        void forget_at_sanitizers() const noexcept;
        [[nodiscard]] const std::byte* pool(StackEnd side) const noexcept {
            return whole.data + pool_offset[static_cast<std::size_t>(side)];
        }
        [[nodiscard]] MemoryBlock between(std::uintptr_t first, std::uintptr_t last) const noexcept {
            return {whole.data + (first - begin()), last - first};
        }

        MemoryBlock whole;
        std::array<std::uintptr_t, 2> cursor{};
        std::array<std::uintptr_t, 2> limit{};
        std::size_t step_bytes = 0;
        std::array<std::uint8_t, 2> pool_offset{};
        os::Reservation own;
        MemoryResource* upstream = nullptr;
        BlockRegistration listing;
    };

public:
    // One of the two stacks. Sizes are rounded up to kDefaultAlignment, so that neighbours touch.
    class End final : public MemoryResource {
    public:
        [[nodiscard]] Expected<MemoryBlock> allocate(
            std::size_t size, std::size_t alignment = kDefaultAlignment) noexcept override {
            note_allocation();
            const bool is_usual = check_allocation(size, alignment) == Status::ok && alignment <= kUnit;
            const std::size_t bytes = whole_units(size);
            if (!is_usual || bytes > room()) [[unlikely]]
                return allocate_slow(size, alignment);
            const std::uintptr_t before = cursor();
            cursor() = is_front() ? before + bytes : before - bytes;
            return count_new(is_front() ? before : before - bytes, bytes);
        }
        // Requires: the newest block of this end (assert), or null.
        void deallocate(MemoryBlock block, std::size_t alignment = kDefaultAlignment) noexcept override {
            if (block.is_null()) return;
            OURO_BLOCK_ASSERT(is_newest(block), "an end of a stack takes back its newest block only", *this,
                              block.data);
            note_peak();
            move_back_to(cursor_before(block, alignment));
            --live_blocks_;
        }
        // Requires: the newest block of this end (assert), or null. At the back the bytes always move.
        [[nodiscard]] Expected<MemoryBlock> reallocate(
            MemoryBlock block, std::size_t new_size,
            std::size_t alignment = kDefaultAlignment) noexcept override;
        // The newest block of the front ends elsewhere then. Any other, and every block of the back, where
        // they begin at the free side, changes within its last kDefaultAlignment bytes only.
        [[nodiscard]] Expected<MemoryBlock> try_resize(
            MemoryBlock block, std::size_t new_size,
            std::size_t alignment = kDefaultAlignment) noexcept override;

        [[nodiscard]] Marker mark() const noexcept { return {used_bytes(), live_blocks_, end_}; }
        // Requires: a marker of this end, which has not been below it since (assert).
        void pop_to(Marker marker) noexcept;
        // The same for those who see the contract only.
        [[nodiscard]] Expected<ResourceMark> place_mark() noexcept override {
            return ResourceMark{.used_bytes = used_bytes(), .live_blocks = live_blocks_};
        }
        void free_since(ResourceMark mark) noexcept override {
            pop_to({mark.used_bytes, mark.live_blocks, end_});
        }

        [[nodiscard]] std::size_t used_bytes() const noexcept {
            return is_front() ? cursor() - range_->begin() : align_down(range_->end(), kUnit) - cursor();
        }

        // True for the whole range: the ends share it.
        [[nodiscard]] bool owns(const void* address) const noexcept override {
            return range_->whole.contains(address);
        }
        [[nodiscard]] ResourceInfo info() const noexcept override;
        // Committed bytes are this end's; reserved ones are shared.
        [[nodiscard]] ResourceStats stats() const noexcept override;
        [[nodiscard]] Status check() const noexcept override;

    private:
        friend class TwoEndedStack;
        // Blocks are multiples of this. One of larger alignment has a unit more, in which it notes where its
        // end's cursor was: what its alignment skipped could not be found again otherwise.
        static constexpr std::size_t kUnit = kDefaultAlignment;
        [[nodiscard]] static constexpr std::size_t whole_units(std::size_t size) noexcept {
            return (size + kUnit - 1) & ~(kUnit - 1);
        }
        [[nodiscard]] static std::uintptr_t address_of(const void* pointer) noexcept {
            return reinterpret_cast<std::uintptr_t>(pointer);
        }

        // Where a block would lie, and the end's cursor with it.
        struct Place {
            std::uintptr_t start;
            std::uintptr_t cursor;
        };

        End(Range& range, StackEnd end, const char* name) noexcept : range_(&range), end_(end), name_(name) {}
        End(const End&) noexcept = default;
        End& operator=(const End&) noexcept = default;

        [[nodiscard]] bool is_front() const noexcept { return end_ == StackEnd::front; }
        [[nodiscard]] std::uintptr_t& cursor() const noexcept {
            return range_->cursor[static_cast<std::size_t>(end_)];
        }
        // What can be taken without asking for more memory.
        [[nodiscard]] std::size_t room() const noexcept {
            const Range& range = *range_;
            if (range.is_all_usable()) return range.cursor[1] - range.cursor[0];
            return is_front() ? range.limit[0] - range.cursor[0] : range.cursor[1] - range.limit[1];
        }
        MemoryBlock count_new(std::uintptr_t start, std::size_t bytes) noexcept {
            ++live_blocks_;
            ++allocations_;
            const MemoryBlock block{reinterpret_cast<std::byte*>(start), bytes};
            annotate::allocated(range_->pool(end_), block);
            return block;
        }
        [[gnu::cold, gnu::noinline]] Expected<MemoryBlock> allocate_slow(std::size_t size,
                                                                         std::size_t alignment) noexcept;
        [[nodiscard]] Expected<Place> place(std::uintptr_t from, std::size_t size,
                                            std::size_t alignment) const noexcept;
        [[nodiscard]] Expected<Place> reserve_place(std::uintptr_t from, std::size_t size,
                                                    std::size_t alignment) noexcept;
        [[nodiscard]] bool is_newest(MemoryBlock block) const noexcept {
            const std::uintptr_t start = address_of(block.data);
            return live_blocks_ != 0 && cursor() == (is_front() ? start + whole_units(block.size) : start);
        }
        // The cursor as it was before the block.
        [[nodiscard]] std::uintptr_t cursor_before(MemoryBlock block, std::size_t alignment) const noexcept {
            if (alignment > kUnit) [[unlikely]]
                return noted_cursor(block);
            const std::uintptr_t start = address_of(block.data);
            return is_front() ? start : start + whole_units(block.size);
        }
        [[nodiscard, gnu::cold]] std::uintptr_t noted_cursor(MemoryBlock block) const noexcept;
        void note_cursor(Place place, std::size_t size, std::uintptr_t before) const noexcept;
        // Frees everything above that height.
        void move_back_to(std::uintptr_t to) noexcept {
            if constexpr (annotate::kActive) annotate_free_above(to);
            cursor() = to;
        }
        void annotate_free_above(std::uintptr_t height) const noexcept;
        // For sanitizers: the newest block is another one now.
        void annotate_moved(MemoryBlock from, MemoryBlock to, std::uintptr_t before) const noexcept;
        void note_peak() noexcept {
            if (used_bytes() > peak_bytes_) peak_bytes_ = used_bytes();
        }

        Range* range_;
        StackEnd end_;
        const char* name_;
        std::size_t live_blocks_ = 0;
        std::size_t peak_bytes_ = 0;
        std::uint64_t allocations_ = 0;
        std::uint64_t failures_ = 0;
    };

    // Frees at the end of a scope what was allocated at one end in it.
    class Scope {
    public:
        explicit Scope(End& end) noexcept : end_(end), start_(end.mark()) {}
        ~Scope() { end_.pop_to(start_); }
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;

    private:
        End& end_;
        Marker start_;
    };

private:
    TwoEndedStack(Range range, const char* name) noexcept;

    Range range_;
    End front_;
    End back_;
};

inline TwoEndedStack::End& TwoEndedStack::front() noexcept {
    return front_;
}
inline TwoEndedStack::End& TwoEndedStack::back() noexcept {
    return back_;
}

}  // namespace ouro
