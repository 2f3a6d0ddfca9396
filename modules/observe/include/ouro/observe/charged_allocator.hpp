#pragma once

#include <ouro/base/assert.hpp>
#include <ouro/memory/memory_resource.hpp>
#include <ouro/memory/observer.hpp>
#include <ouro/observe/detail/block_trailer.hpp>
#include <ouro/observe/detail/ledger_paths.hpp>
#include <ouro/observe/detail/sampling.hpp>
#include <ouro/observe/detail/slow_path_timer.hpp>
#include <ouro/observe/observing.hpp>
#include <ouro/observe/tag_scope.hpp>
#include <ouro/os/stack_trace.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace ouro {

// Charges what goes through it to tags: a tag of its own, or the one that is current on the thread
// (TagScope). Budgets are kept, use is counted, and the profiler sees the allocations.
//
//     ChargedAllocator memory(heap);
//     const TagScope scope(default_tags().creatures);
//     auto block = memory.allocate(64);      // counts as creatures, wherever and whenever it is freed
//
// Each block carries four bytes behind it with its tag, so that its free is credited to the right one whoever
// frees it; they also show writes beyond the block's end, and frees of other blocks or with another size
// (assert, with the block's address and size), with debug asserts also a second free. A block is exactly as
// large as it was asked for. As thread-safe as the resource below, whose own type as argument keeps the calls
// to it direct.
//
// It stands on what frees block by block; below a frame or a stack it charges the memory that those take, on
// top of them it would not know what a reset frees. So it has no marks.
template <std::derived_from<MemoryResource> Upstream = MemoryResource, bool kIsOn = kObserving>
class ChargedAllocator final : public MemoryResource {
public:
    // To the thread's current tag. The resource must live longer.
    explicit ChargedAllocator(Upstream& upstream) noexcept : upstream_(&upstream) {}
    // To this tag. Requires: a registered one (assert).
    ChargedAllocator(Upstream& upstream, Tag tag) noexcept : upstream_(&upstream), tag_(tag), has_tag_(true) {
        OURO_ASSERT(tag.id() < tag_count(), "the tag was not registered");
    }

    // Fails as the resource below, and before asking it with budget_exceeded or rate_limited.
    [[nodiscard]] Expected<MemoryBlock> allocate(
        std::size_t size, std::size_t alignment = kDefaultAlignment) noexcept override {
        const detail::ChargedTag tag = tag_in_force();
        if (const Status status = check_allocation(size, alignment); status != Status::ok) [[unlikely]]
            return fail(tag.trailer.tag(), status, size, alignment);
        const detail::Charge charge = detail::charge_credit(tag, size);
        if (!charge.is_plain() || has_observers()) [[unlikely]]
            return allocate_specially(charge, tag.trailer.tag(), size, alignment);
        const auto given = upstream_->allocate(size + sizeof(detail::BlockTrailer), alignment);
        if (!given) [[unlikely]]
            return give_up(tag.trailer.tag(), given.status(), size, alignment);
        const MemoryBlock block{given->data, size};
        detail::write_trailer(block, tag.trailer);
        return block;
    }

    void deallocate(MemoryBlock block, std::size_t alignment = kDefaultAlignment) noexcept override {
        if (block.is_null()) [[unlikely]]
            return;
        // Most blocks are of the tag that is current. To guess it, instead of reading it off the block, lets
        // the processor go on before the block's memory is there.
        const detail::ChargedTag guess = tag_in_force();
        if (detail::load_trailer(block) != guess.trailer || has_observers()) [[unlikely]]
            return deallocate_specially(block, alignment);
        mark_dead(block);
        upstream_->deallocate(detail::whole_block(block), alignment);
        // Only now is there room for others within the budget.
        detail::refund(guess, block.size);
    }

    // A block keeps its tag. While it moves, its bytes count once.
    [[nodiscard]] Expected<MemoryBlock> reallocate(
        MemoryBlock block, std::size_t new_size,
        std::size_t alignment = kDefaultAlignment) noexcept override {
        if (block.is_null()) return allocate(new_size, alignment);
        return change<&Upstream::reallocate, true>(block, new_size, alignment);
    }
    [[nodiscard]] Expected<MemoryBlock> try_resize(
        MemoryBlock block, std::size_t new_size,
        std::size_t alignment = kDefaultAlignment) noexcept override {
        return change<&Upstream::try_resize, false>(block, new_size, alignment);
    }

    [[nodiscard]] bool owns(const void* address) const noexcept override { return upstream_->owns(address); }
    [[nodiscard]] ResourceInfo info() const noexcept override { return upstream_->info(); }
    // Those of the resource below, whoever else uses it; use_of tells those of a tag.
    [[nodiscard]] ResourceStats stats() const noexcept override { return upstream_->stats(); }
    [[nodiscard]] Status check() const noexcept override { return upstream_->check(); }

    [[nodiscard]] Upstream& upstream() const noexcept { return *upstream_; }

private:
    [[nodiscard]] detail::ChargedTag tag_in_force() const noexcept {
        detail::ChargedTag tag = detail::t_ledger.tag;
        if (has_tag_) tag = tag_;
        return tag;
    }

    // Where debug asserts are on, a second free is noticed until the memory is another block's.
    static void mark_dead([[maybe_unused]] MemoryBlock block) noexcept {
#if OURO_ASSERT_LEVEL >= 1
        detail::write_trailer(block, detail::BlockTrailer::dead());
#endif
    }

    // Not to be able to change a block in place is no failure. To the profiler a block that changes is one
    // that goes and one that comes: so every block that is live had the same chance for each of its bytes.
    template <auto kFunction, bool kMustSucceed>
    [[nodiscard, gnu::noinline]] Expected<MemoryBlock> change(MemoryBlock block, std::size_t new_size,
                                                              std::size_t alignment) noexcept {
        const auto trailer = detail::read_trailer(block, *this, tag_in_force().trailer.tag());
        const Tag tag = trailer.tag();
        const std::size_t growth = new_size > block.size ? new_size - block.size : 0;
        if (const Status status = check_allocation(new_size, alignment); status != Status::ok)
            return kMustSucceed ? fail(tag, status, new_size, alignment, block) : status;
        if (growth != 0) {
            const Status status = detail::charge_growth(tag, growth);
            if (status != Status::ok) return refuse(tag, status, new_size, alignment, block);
        }
        // The address may be another block's as soon as the resource below has moved this one.
        const detail::TakenSample sample =
            trailer.is_sampled() ? detail::take_sample(block.data) : detail::TakenSample{};
        const auto given = (upstream_->*kFunction)(detail::whole_block(block),
                                                   new_size + sizeof(detail::BlockTrailer), alignment);
        if (!given) {
            if (trailer.is_sampled()) detail::put_back_sample(block.data, sample);
            if (growth != 0) detail::uncharge_growth(tag, growth);
            return kMustSucceed ? fail(tag, given.status(), new_size, alignment, block) : given.status();
        }
        if (growth != 0) detail::confirm_slow(tag, growth);
        if (new_size < block.size) detail::refund_shrinkage(tag, block.size - new_size);
        const MemoryBlock changed{given->data, new_size};
        if (trailer.is_sampled()) detail::end_taken_sample(sample);
        const bool is_sampled = detail::is_sample_due(new_size) &&
                                detail::sample_allocation(changed, tag, new_size, OURO_RETURN_ADDRESS());
        detail::write_trailer(changed, detail::BlockTrailer(tag, is_sampled));
        if (has_observers()) announce(&MemoryObserver::on_reallocate, tag, changed, alignment, block);
        return changed;
    }

    // Without credit, for what the profiler wants to see, and for everything while somebody observes.
    [[gnu::cold, gnu::noinline]] Expected<MemoryBlock> allocate_specially(detail::Charge charge, Tag tag,
                                                                          std::size_t size,
                                                                          std::size_t alignment) noexcept {
        // Taken with the upstream's work: it is what the caller waits for.
        const detail::SlowPathTimer timer(charge.is_deferred());
        if (charge.is_deferred()) {
            const Status status = detail::charge_slow(tag, size);
            if (status != Status::ok) return refuse(tag, status, size, alignment);
        }
        const auto given = upstream_->allocate(size + sizeof(detail::BlockTrailer), alignment);
        if (!given) {
            if (!charge.is_deferred()) return give_up(tag, given.status(), size, alignment);
            detail::uncharge_slow(tag, size);
            return fail(tag, given.status(), size, alignment);
        }
        if (charge.is_deferred()) detail::confirm_slow(tag, size);
        const bool is_sample = charge.is_deferred() ? detail::is_sample_due(size) : charge.is_sampled();
        const MemoryBlock block{given->data, size};
        // One call for all, so that a place in the program is one site.
        const bool is_sampled =
            is_sample && detail::sample_allocation(block, tag, size, OURO_RETURN_ADDRESS());
        detail::write_trailer(block, detail::BlockTrailer(tag, is_sampled));
        announce(&MemoryObserver::on_allocate, tag, block, alignment);
        return block;
    }
    // Blocks of other tags, those that the profiler saw, and everything while somebody observes.
    [[gnu::noinline]] void deallocate_specially(MemoryBlock block, std::size_t alignment) noexcept {
        const auto trailer = detail::read_trailer(block, *this, tag_in_force().trailer.tag());
        if (has_observers()) announce(&MemoryObserver::on_deallocate, trailer.tag(), block, alignment);
        if (trailer.is_sampled()) detail::forget_sample(block.data);
        mark_dead(block);
        upstream_->deallocate(detail::whole_block(block), alignment);
        detail::refund(detail::ChargedTag(trailer.tag()), block.size);
    }
    // Memory was charged for out of credit and could not be had.
    [[gnu::cold, gnu::noinline]] Expected<MemoryBlock> give_up(Tag tag, Status status, std::size_t size,
                                                               std::size_t alignment) noexcept {
        detail::uncharge_credit(tag, size);
        detail::uncount_sample(size);
        return fail(tag, status, size, alignment);
    }
    // For what the ledger has not counted by itself.
    [[gnu::cold, gnu::noinline]] Expected<MemoryBlock> fail(Tag tag, Status status, std::size_t size,
                                                            std::size_t alignment,
                                                            MemoryBlock old_block = {}) noexcept {
        detail::count_failure(tag, status);
        return refuse(tag, status, size, alignment, old_block);
    }
    [[gnu::cold, gnu::noinline]] Expected<MemoryBlock> refuse(Tag tag, Status status, std::size_t size,
                                                              std::size_t alignment,
                                                              MemoryBlock old_block = {}) noexcept {
        raise(&MemoryObserver::on_failure, {.resource = this,
                                            .tag = tag,
                                            .status = status,
                                            .old_block = old_block,
                                            .asked_bytes = size,
                                            .alignment = alignment});
        return status;
    }
    [[gnu::cold]] void announce(detail::EventCall call, Tag tag, MemoryBlock block, std::size_t alignment,
                                MemoryBlock old_block = {}) noexcept {
        raise(call, {.resource = this,
                     .tag = tag,
                     .block = block,
                     .old_block = old_block,
                     .asked_bytes = block.size,
                     .alignment = alignment});
    }

    Upstream* upstream_;
    detail::ChargedTag tag_;
    bool has_tag_ = false;
};

// Compiled out: nothing but the name. Each call is the upstream's own.
template <std::derived_from<MemoryResource> Upstream>
class ChargedAllocator<Upstream, false> final : public MemoryResource {
public:
    explicit ChargedAllocator(Upstream& upstream, Tag = {}) noexcept : upstream_(&upstream) {}

    [[nodiscard]] Expected<MemoryBlock> allocate(
        std::size_t size, std::size_t alignment = kDefaultAlignment) noexcept override {
        return upstream_->allocate(size, alignment);
    }
    void deallocate(MemoryBlock block, std::size_t alignment = kDefaultAlignment) noexcept override {
        upstream_->deallocate(block, alignment);
    }
    [[nodiscard]] Expected<MemoryBlock> reallocate(
        MemoryBlock block, std::size_t new_size,
        std::size_t alignment = kDefaultAlignment) noexcept override {
        return upstream_->reallocate(block, new_size, alignment);
    }
    [[nodiscard]] Expected<MemoryBlock> try_resize(
        MemoryBlock block, std::size_t new_size,
        std::size_t alignment = kDefaultAlignment) noexcept override {
        return upstream_->try_resize(block, new_size, alignment);
    }
    [[nodiscard]] Expected<ResourceMark> place_mark() noexcept override { return upstream_->place_mark(); }
    void free_since(ResourceMark mark) noexcept override { upstream_->free_since(mark); }
    [[nodiscard]] bool is_equal(const MemoryResource& other) const noexcept override {
        return this == &other || upstream_->is_equal(other);
    }
    [[nodiscard]] bool owns(const void* address) const noexcept override { return upstream_->owns(address); }
    [[nodiscard]] ResourceInfo info() const noexcept override { return upstream_->info(); }
    [[nodiscard]] ResourceStats stats() const noexcept override { return upstream_->stats(); }
    [[nodiscard]] Status check() const noexcept override { return upstream_->check(); }
    [[nodiscard]] Upstream& upstream() const noexcept { return *upstream_; }

private:
    Upstream* upstream_;
};

template <class Upstream>
ChargedAllocator(Upstream&) -> ChargedAllocator<Upstream>;
template <class Upstream>
ChargedAllocator(Upstream&, Tag) -> ChargedAllocator<Upstream>;

}  // namespace ouro
