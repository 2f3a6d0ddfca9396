#pragma once

#include <ouro/memory/detail/guard_core.hpp>
#include <ouro/memory/hardening.hpp>
#include <ouro/memory/memory_resource.hpp>

#include <concepts>
#include <cstddef>
#include <utility>

namespace ouro {

// Looks for memory bugs in those who use a resource. Put between them and any resource, it costs what its
// tier says; by default the one chosen when building (OURO_HARDENING), so that the same line stays in the
// program for good:
//
//     auto guarded = GuardedAllocator<>::create_on(upstream, {.name = "level"});
//
// Found are writes beside a block and into freed ones, double frees, frees with a wrong size, alignment or
// resource, foreign pointers and leaks. What is found goes to the handler of memory_error.hpp with the call
// sites of allocation and free. As safe for threads as the upstream, which must live longer.
//
// Guard pages and the records of blocks come from the system and go back to it, also under a seal.
//
// Naming the upstream's own type as second argument keeps calls to it direct.
template <HardeningTier kTier = kHardening, std::derived_from<MemoryResource> Upstream = MemoryResource>
class GuardedAllocator final : public MemoryResource {
public:
    using Options = GuardOptions;

    // Fails as os::reserve and os::commit do, or with zero_size. Where pages cannot be protected, hardened
    // does what checked does.
    [[nodiscard]] static Expected<GuardedAllocator> create_on(Upstream& upstream,
                                                              const Options& options = {}) noexcept {
        auto core = GuardCore::create(upstream, options, kTier);
        if (!core) return core.status();
        return GuardedAllocator(upstream, *std::move(core));
    }

    [[nodiscard]] Expected<MemoryBlock> allocate(
        std::size_t size, std::size_t alignment = kDefaultAlignment) noexcept override {
        if constexpr (kTier == HardeningTier::hardened) {
            if (core_.hands_on_allocation()) return upstream_->allocate(size, alignment);
        }
        return core_.allocate(size, alignment);
    }
    // Requires nothing where every block is checked: whatever is wrong is reported, and not done. With
    // check_unsampled = false, blocks without guards are the upstream's, with what it requires.
    void deallocate(MemoryBlock block, std::size_t alignment = kDefaultAlignment) noexcept override {
        if constexpr (kTier == HardeningTier::hardened) {
            if (core_.hands_on(block.data)) return upstream_->deallocate(block, alignment);
        }
        core_.deallocate(block, alignment);
    }
    // bad_address, besides the usual statuses, when the block is none and the handler resumes.
    [[nodiscard]] Expected<MemoryBlock> reallocate(
        MemoryBlock block, std::size_t new_size,
        std::size_t alignment = kDefaultAlignment) noexcept override {
        return core_.reallocate(block, new_size, alignment);
    }
    // As the upstream, with the bytes that are watched moved to the new end; never for blocks with pages of
    // their own.
    [[nodiscard]] Expected<MemoryBlock> try_resize(
        MemoryBlock block, std::size_t new_size,
        std::size_t alignment = kDefaultAlignment) noexcept override {
        return core_.try_resize(block, new_size, alignment);
    }
    // As the upstream, after a last look at the blocks that go. not_supported with guard pages, whose blocks
    // are not the upstream's.
    [[nodiscard]] Expected<ResourceMark> place_mark() noexcept override { return core_.place_mark(); }
    void free_since(ResourceMark mark) noexcept override { core_.free_since(mark); }

    [[nodiscard]] bool owns(const void* address) const noexcept override { return core_.owns(address); }
    [[nodiscard]] ResourceInfo info() const noexcept override { return core_.info(); }
    // Blocks count as live until they are freed, whether or not the upstream has them back. Without
    // check_unsampled the peak is the sum of two: of blocks with pages of their own, and of the upstream.
    [[nodiscard]] ResourceStats stats() const noexcept override { return core_.stats(); }
    // Looks at every block, live or in quarantine, without reporting; then at the upstream. No other thread
    // may write to a block beyond its size meanwhile, which none may anyway.
    [[nodiscard]] Status check() const noexcept override { return core_.check(); }

    // The same with a report for each damaged block, once; returns how many there were.
    std::size_t inspect() noexcept { return core_.inspect(); }
    // Forgets all blocks after a last look at them. To be called before an upstream is reset as a whole.
    void release_all() noexcept { core_.release_all(); }
    // Looks at all freed blocks and returns them to the upstream.
    void flush_quarantine() noexcept { core_.flush_quarantine(); }
    // One allocation in so many gets pages of its own from now on; see SampledGuards.
    void set_sample_every(std::uint32_t every) noexcept { core_.guards().set_sample_every(every); }
    // False in other tiers, and where pages cannot be protected.
    [[nodiscard]] bool has_guard_pages() noexcept { return core_.guards().reserved_bytes() != 0; }

private:
    GuardedAllocator(Upstream& upstream, GuardCore core) noexcept
        : upstream_(&upstream), core_(std::move(core)) {}

    Upstream* upstream_;
    GuardCore core_;
};

// Off: nothing but the name. Each call is the upstream's own.
template <std::derived_from<MemoryResource> Upstream>
class GuardedAllocator<HardeningTier::off, Upstream> final : public MemoryResource {
public:
    using Options = GuardOptions;

    [[nodiscard]] static Expected<GuardedAllocator> create_on(Upstream& upstream,
                                                              const Options& = {}) noexcept {
        return GuardedAllocator(upstream);
    }
    explicit GuardedAllocator(Upstream& upstream) noexcept : upstream_(&upstream) {}

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

    // Blocks are the upstream's: it may take them back, and so may whoever else stands on it without tier.
    [[nodiscard]] bool is_equal(const MemoryResource& other) const noexcept override {
        return this == &other || upstream_->is_equal(other);
    }
    [[nodiscard]] bool owns(const void* address) const noexcept override { return upstream_->owns(address); }
    [[nodiscard]] ResourceInfo info() const noexcept override { return upstream_->info(); }
    [[nodiscard]] ResourceStats stats() const noexcept override { return upstream_->stats(); }
    [[nodiscard]] Status check() const noexcept override { return upstream_->check(); }

    std::size_t inspect() noexcept { return 0; }
    void release_all() noexcept {}
    void flush_quarantine() noexcept {}
    void set_sample_every(std::uint32_t) noexcept {}
    [[nodiscard]] bool has_guard_pages() noexcept { return false; }

private:
    Upstream* upstream_;
};

}  // namespace ouro
