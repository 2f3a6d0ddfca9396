#pragma once

#include <ouro/memory/detail/use_counter.hpp>
#include <ouro/memory/memory_resource.hpp>
#include <ouro/memory/rate_limit.hpp>
#include <ouro/memory/tag.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ouro {

// Counts, bounds and announces what goes through it to another resource. As thread-safe as that resource;
// blocks may be freed on any thread that it allows, and the counts are exact all the same.
//
//     auto tag = register_tag("creatures");
//     TaggedAllocator creatures(heap, {.tag = *tag, .budget_bytes = std::size_t{64} << 20});
//
// The rule that makes the counts exact without a header at each block: a tagged block is exactly as large as
// it was asked for, even when the resource below gave more. So the size at its end can only be the size at
// its beginning, and what is counted, bounded and reported are the bytes asked for.
//
// A tag below another is a TaggedAllocator on the other's: the parent counts and bounds both.
class TaggedAllocator final : public MemoryResource {
public:
    static constexpr std::size_t kNoBudget = detail::UseCounter::kUnlimited;

    struct Options {
        // Null: the tag's.
        const char* name = nullptr;
        Tag tag = {};
        std::size_t budget_bytes = kNoBudget;
    };

    struct Counts {
        std::size_t live_bytes = 0;
        std::size_t peak_bytes = 0;
        std::size_t live_blocks = 0;
        std::uint64_t allocations = 0;
        std::uint64_t deallocations = 0;
        std::uint64_t reallocations = 0;
        // Of all allocations and growths so far.
        std::uint64_t allocated_bytes = 0;
        std::uint64_t failures = 0;
    };

    // The resource must live longer.
    TaggedAllocator(MemoryResource& upstream, const Options& options) noexcept;
    TaggedAllocator(const TaggedAllocator&) = delete;
    TaggedAllocator& operator=(const TaggedAllocator&) = delete;
    ~TaggedAllocator() = default;

    // Fails as the resource below, and before asking it with budget_exceeded or rate_limited.
    [[nodiscard]] Expected<MemoryBlock> allocate(std::size_t size,
                                                 std::size_t alignment = kDefaultAlignment) noexcept override;
    void deallocate(MemoryBlock block, std::size_t alignment = kDefaultAlignment) noexcept override;
    // While a block moves its bytes count once, although the resource below holds both for a moment. Fails
    // with busy when a block would become smaller while a mark is open (see place_mark).
    [[nodiscard]] Expected<MemoryBlock> reallocate(
        MemoryBlock block, std::size_t new_size, std::size_t alignment = kDefaultAlignment) noexcept override;

    // As the resource below. What is refused is not counted as a failure: the block is what it was, and who
    // then moves it is counted there.
    [[nodiscard]] Expected<MemoryBlock> try_resize(
        MemoryBlock block, std::size_t new_size, std::size_t alignment = kDefaultAlignment) noexcept override;
    // Marks are those of the resource below, with the counts of this one. What is freed to a mark is what was
    // counted since, because nothing tells how old a block is. So no block becomes smaller while a mark is
    // open: until it or an older one is freed to, or everything was freed. Freeing to a mark requires that no
    // block older than it was freed here since or moved by reallocate, and, where it was freed to before,
    // that none became smaller.
    [[nodiscard]] Expected<ResourceMark> place_mark() noexcept override;
    void free_since(ResourceMark mark) noexcept override;

    // The live bytes never pass the budget, whatever the number of threads: each request is taken into
    // account before the resource below is asked. A budget below what is live refuses requests until enough
    // was freed. From any thread.
    void set_budget(std::size_t bytes) noexcept { budget_bytes_.store(bytes, std::memory_order_relaxed); }
    [[nodiscard]] std::size_t budget_bytes() const noexcept {
        return budget_bytes_.load(std::memory_order_relaxed);
    }

    // Requests beyond the limit fail with rate_limited; reallocations count by what they add. Fails with
    // bad_argument. From any thread.
    Expected<void> set_rate_limit(const RateLimit& limit) noexcept { return rate_.set(limit); }
    void clear_rate_limit() noexcept { rate_.clear(); }

    // The resource below has freed everything at once, as a frame's reset does. Requires: no other thread
    // uses this one meanwhile.
    void note_all_freed() noexcept {
        use_.forget_live();
        open_marks_.store(0, std::memory_order_relaxed);
    }

    // From any thread at any time. Exact when nobody allocates or frees meanwhile. A block is live from
    // before the resource below is asked for it until that has taken it back, and the peak is the most that
    // was live so.
    [[nodiscard]] Counts counts() const noexcept;
    [[nodiscard]] std::uint64_t failures(Status status) const noexcept;

    [[nodiscard]] Tag tag() const noexcept { return tag_; }
    [[nodiscard]] MemoryResource& upstream() const noexcept { return upstream_; }

    [[nodiscard]] bool owns(const void* address) const noexcept override { return upstream_.owns(address); }
    [[nodiscard]] ResourceInfo info() const noexcept override;
    // Addresses and committed bytes are those of the resource below, whoever else uses it.
    [[nodiscard]] ResourceStats stats() const noexcept override;
    [[nodiscard]] Status check() const noexcept override;

private:
    static constexpr std::size_t kStatusNumbers = static_cast<std::size_t>(Status::os_error) + 1;

    [[nodiscard]] Status admit(std::size_t bytes, std::size_t& sum) noexcept;
    // Lets the resource below change the block by one of its two functions, and counts what came of it.
    using Change = Expected<MemoryBlock> (MemoryResource::*)(MemoryBlock, std::size_t, std::size_t) noexcept;
    [[nodiscard]] Expected<MemoryBlock> change(Change function, MemoryBlock block, std::size_t new_size,
                                               std::size_t alignment) noexcept;
    [[gnu::cold]] Expected<MemoryBlock> fail(Status status, MemoryBlock old_block, std::size_t size,
                                             std::size_t alignment) noexcept;

    MemoryResource& upstream_;
    const char* name_;
    Tag tag_;
    std::atomic<std::size_t> budget_bytes_;
    RateGate rate_;
    std::array<std::atomic<std::uint64_t>, kStatusNumbers> failures_{};
    // Marks that nobody has freed to yet.
    std::atomic<std::size_t> open_marks_{0};
    detail::UseCounter use_;
};

}  // namespace ouro
