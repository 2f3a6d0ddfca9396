#pragma once

#include <ouro/memory/detail/use_counter.hpp>
#include <ouro/memory/memory_resource.hpp>
#include <ouro/memory/observer.hpp>
#include <ouro/memory/rate_limit.hpp>
#include <ouro/memory/tag.hpp>

#include <array>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>

namespace ouro {

namespace detail {

// What tagged allocators are, whichever type they know of the resource below. Its virtual functions are all
// inline: see MemoryResource.
class TaggedResource : public MemoryResource {
public:
    static constexpr std::size_t kNoBudget = UseCounter::kUnlimited;

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

    TaggedResource(const TaggedResource&) = delete;
    TaggedResource& operator=(const TaggedResource&) = delete;

    // While a block moves its bytes count once, although the resource below holds both for a moment. Fails
    // with busy when a block would become smaller while a mark is open (see place_mark).
    [[nodiscard]] Expected<MemoryBlock> reallocate(
        MemoryBlock block, std::size_t new_size,
        std::size_t alignment = kDefaultAlignment) noexcept override {
        return reallocate_counted(block, new_size, alignment);
    }

    // As the resource below. What is refused is not counted as a failure: the block is what it was, and who
    // then moves it is counted there.
    [[nodiscard]] Expected<MemoryBlock> try_resize(
        MemoryBlock block, std::size_t new_size,
        std::size_t alignment = kDefaultAlignment) noexcept override {
        return change(&MemoryResource::try_resize, block, new_size, alignment);
    }
    // Marks are those of the resource below, with the counts of this one. What is freed to a mark is what was
    // counted since, because nothing tells how old a block is. So no block becomes smaller while a mark is
    // open: until it or an older one is freed to, or everything was freed. Freeing to a mark requires that no
    // block older than it was freed here since or moved by reallocate, and, where it was freed to before,
    // that none became smaller.
    [[nodiscard]] Expected<ResourceMark> place_mark() noexcept override { return place_counted_mark(); }
    void free_since(ResourceMark mark) noexcept override { free_counted_since(mark); }

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

    [[nodiscard]] bool owns(const void* address) const noexcept override { return upstream_.owns(address); }
    [[nodiscard]] ResourceInfo info() const noexcept override { return named_info(); }
    // Addresses and committed bytes are those of the resource below, whoever else uses it.
    [[nodiscard]] ResourceStats stats() const noexcept override { return counted_stats(); }
    [[nodiscard]] Status check() const noexcept override { return check_counts(); }

protected:
    TaggedResource(MemoryResource& upstream, const Options& options) noexcept;
    ~TaggedResource() = default;

    [[nodiscard]] MemoryResource& below() const noexcept { return upstream_; }

    // `upstream` is the resource below, by the type that the caller knows of it.
    template <class Upstream>
    [[nodiscard, gnu::always_inline]] Expected<MemoryBlock> allocate_from(Upstream& upstream,
                                                                          std::size_t size,
                                                                          std::size_t alignment) noexcept {
        Status status = check_allocation(size, alignment);
        std::size_t sum = 0;
        if (status == Status::ok) [[likely]]
            status = admit(size, sum);
        if (status != Status::ok) [[unlikely]]
            return fail(status, {}, size, alignment);
        const auto given = upstream.allocate(size, alignment);
        if (!given) [[unlikely]] {
            use_.release(size, *this);
            return fail(given.status(), {}, size, alignment);
        }
        use_.confirm(sum);
        use_.count_allocation(size);
        const MemoryBlock block{given->data, size};
        if (has_observers()) [[unlikely]]
            tell(&MemoryObserver::on_allocate, block, alignment);
        return block;
    }
    template <class Upstream>
    [[gnu::always_inline]] void deallocate_to(Upstream& upstream, MemoryBlock block,
                                              std::size_t alignment) noexcept {
        if (block.is_null()) return;
        if (has_observers()) [[unlikely]]
            tell(&MemoryObserver::on_deallocate, block, alignment);
        upstream.deallocate(block, alignment);
        // Only now is there room for others within the budget.
        use_.release(block.size, *this, block.data);
        use_.count_deallocation();
    }

private:
    static constexpr std::size_t kStatusNumbers = static_cast<std::size_t>(Status::os_error) + 1;

    [[nodiscard]] Status admit(std::size_t bytes, std::size_t& sum) noexcept {
        const std::size_t budget = budget_bytes();
        if (!use_.reserve(bytes, budget, sum)) [[unlikely]]
            return budget == kNoBudget ? Status::capacity_exhausted : Status::budget_exceeded;
        if (rate_.admit(bytes)) [[likely]]
            return Status::ok;
        use_.release(bytes, *this);
        return Status::rate_limited;
    }
    // Lets the resource below change the block by one of its two functions, and counts what came of it.
    using Change = Expected<MemoryBlock> (MemoryResource::*)(MemoryBlock, std::size_t, std::size_t) noexcept;
    [[nodiscard]] Expected<MemoryBlock> change(Change function, MemoryBlock block, std::size_t new_size,
                                               std::size_t alignment) noexcept;
    [[nodiscard]] Expected<MemoryBlock> reallocate_counted(MemoryBlock block, std::size_t new_size,
                                                           std::size_t alignment) noexcept;
    [[nodiscard]] Expected<ResourceMark> place_counted_mark() noexcept;
    void free_counted_since(ResourceMark mark) noexcept;
    [[nodiscard]] ResourceInfo named_info() const noexcept;
    [[nodiscard]] ResourceStats counted_stats() const noexcept;
    [[nodiscard]] Status check_counts() const noexcept;
    [[gnu::cold]] Expected<MemoryBlock> fail(Status status, MemoryBlock old_block, std::size_t size,
                                             std::size_t alignment) noexcept;
    [[gnu::cold]] void tell(EventCall call, MemoryBlock block, std::size_t alignment) const noexcept;

    MemoryResource& upstream_;
    const char* name_;
    Tag tag_;
    std::atomic<std::size_t> budget_bytes_;
    RateGate rate_;
    std::array<std::atomic<std::uint64_t>, kStatusNumbers> failures_{};
    // Marks that nobody has freed to yet.
    std::atomic<std::size_t> open_marks_{0};
    UseCounter use_;
};

}  // namespace detail

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
//
// A TaggedAllocator takes any resource, by a virtual call. With the resource's own type, as in
// BasicTaggedAllocator<SmallObjectAllocator>, blocks are allocated and freed without one, inline where the
// resource is.
template <std::derived_from<MemoryResource> Upstream>
class BasicTaggedAllocator final : public detail::TaggedResource {
public:
    // The resource must live longer.
    BasicTaggedAllocator(Upstream& upstream, const Options& options) noexcept
        : TaggedResource(upstream, options) {}
    ~BasicTaggedAllocator() = default;

    // Fails as the resource below, and before asking it with budget_exceeded or rate_limited.
    [[nodiscard, gnu::always_inline]] Expected<MemoryBlock> allocate(
        std::size_t size, std::size_t alignment = kDefaultAlignment) noexcept override {
        return allocate_from(upstream(), size, alignment);
    }
    [[gnu::always_inline]] void deallocate(MemoryBlock block,
                                           std::size_t alignment = kDefaultAlignment) noexcept override {
        deallocate_to(upstream(), block, alignment);
    }

    [[nodiscard]] Upstream& upstream() const noexcept { return static_cast<Upstream&>(below()); }
};

template <>
Expected<MemoryBlock> BasicTaggedAllocator<MemoryResource>::allocate(std::size_t size,
                                                                     std::size_t alignment) noexcept;
template <>
void BasicTaggedAllocator<MemoryResource>::deallocate(MemoryBlock block, std::size_t alignment) noexcept;

using TaggedAllocator = BasicTaggedAllocator<MemoryResource>;

}  // namespace ouro
