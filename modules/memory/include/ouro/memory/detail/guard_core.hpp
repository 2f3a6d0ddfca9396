#pragma once

#include <ouro/base/assert.hpp>
#include <ouro/memory/hardening.hpp>
#include <ouro/memory/memory_error.hpp>
#include <ouro/memory/memory_resource.hpp>
#include <ouro/memory/sampled_guards.hpp>
#include <ouro/os/reservation.hpp>

#include <cstddef>
#include <cstdint>

namespace ouro {

struct GuardOptions {
    const char* name = "guarded";

    // Blocks that can be known at once, live or in quarantine. Takes addresses; memory as they come.
    std::uint32_t max_blocks = sizeof(void*) > 4 ? 1U << 20 : 1U << 16;
    // Freed blocks that are held back, to see whether somebody still writes to them; the oldest go first. An
    // upstream that takes its blocks back in order only, such as a stack, needs quarantine_blocks = 0: blocks
    // then go back at once, and change their size in place.
    std::uint32_t quarantine_blocks = 1024;
    std::size_t quarantine_bytes = std::size_t{8} << 20;
    // Tells of what was never freed when the allocator ends, where the upstream frees single blocks at all.
    bool report_leaks = true;
    // AddressSanitizer and Valgrind stop a bad access themselves. False leaves it to the canaries.
    bool annotate = true;

    // Tier hardened only. One allocation in so many gets pages of its own as long as there are slots; the
    // others are checked as in the tier below, or handed on as they are: what a released game can afford.
    std::uint32_t sample_every = 1;
    bool check_unsampled = true;
    std::uint32_t guard_slots = 2048;
    std::size_t guard_slot_bytes = std::size_t{64} << 10;
    GuardSide guard_side = GuardSide::behind;
};

// What the tiers checked and hardened of GuardedAllocator share.
class GuardCore {
public:
    [[nodiscard]] static Expected<GuardCore> create(MemoryResource& upstream, const GuardOptions& options,
                                                    HardeningTier tier) noexcept;

    GuardCore(GuardCore&& other) noexcept;
    GuardCore& operator=(GuardCore&& other) noexcept;
    ~GuardCore();

    // True when this call is the upstream's alone: neither sampled nor checked.
    [[nodiscard]] bool hands_on_allocation() noexcept { return hands_on_ && !guards_->should_sample(); }
    [[nodiscard]] bool hands_on(const void* address) const noexcept {
        return hands_on_ && !guards_->owns(address);
    }

    // Requires: hands_on_allocation() was false for it.
    [[nodiscard]] Expected<MemoryBlock> allocate(std::size_t size, std::size_t alignment) noexcept;
    void deallocate(MemoryBlock block, std::size_t alignment) noexcept;
    [[nodiscard]] Expected<MemoryBlock> reallocate(MemoryBlock block, std::size_t new_size,
                                                   std::size_t alignment) noexcept;

    [[nodiscard]] Expected<MemoryBlock> try_resize(MemoryBlock block, std::size_t new_size,
                                                   std::size_t alignment) noexcept;
    [[nodiscard]] Expected<ResourceMark> place_mark() noexcept;
    void free_since(ResourceMark mark) noexcept;

    [[nodiscard]] bool owns(const void* address) const noexcept;
    [[nodiscard]] ResourceInfo info() const noexcept;
    [[nodiscard]] ResourceStats stats() const noexcept;
    [[nodiscard]] Status check() const noexcept;

    [[nodiscard]] std::size_t inspect() noexcept;
    void release_all() noexcept;
    void flush_quarantine() noexcept;
    [[nodiscard]] SampledGuards& guards() noexcept { return *guards_; }

    struct State;

private:
    GuardCore(os::Reservation home, State* state) noexcept;
    [[nodiscard]] State& state() const noexcept {
        OURO_ASSERT(state_ != nullptr, "the guarded allocator was moved from");
        return *state_;
    }

    os::Reservation home_;
    State* state_ = nullptr;
    SampledGuards* guards_ = nullptr;
    // Blocks that are not sampled are not looked at.
    bool hands_on_ = false;
};

}  // namespace ouro
