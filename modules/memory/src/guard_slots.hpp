#pragma once

#include <ouro/memory/sampled_guards.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

// What SampledGuards knows of its slots, in memory of its own: reports read it after anything happened to the
// blocks, also from a signal handler.
namespace ouro {

// Only the one who moved a slot to `changing` may touch the rest of it.
enum class SlotState : std::uint32_t { unused, changing, live, freed };

struct GuardSlot {
    std::atomic<SlotState> state{SlotState::unused};
    bool guard_in_front = false;
    MemoryBlock block;
    std::size_t alignment = 0;
    // The pages with memory behind: the block and the canaries that fill the rest.
    MemoryBlock committed;
    CallSites allocated_at;
    CallSites freed_at;

    // What was written beside the block, or null.
    [[nodiscard]] const std::byte* damage() const noexcept;
    [[nodiscard]] MemoryBlock bytes_in_front() const noexcept {
        return {committed.data, static_cast<std::size_t>(block.data - committed.data)};
    }
    [[nodiscard]] MemoryBlock bytes_behind() const noexcept {
        return {block.end(), static_cast<std::size_t>(committed.end() - block.end())};
    }
};

struct SampledGuards::State {
    const char* name = "";
    MemoryBlock pages;
    std::size_t slot_bytes = 0;
    // From one slot to the next: the slot and the page that faults behind it.
    std::size_t stride_bytes = 0;
    std::uint32_t slot_count = 0;
    GuardSide side = GuardSide::alternating;
    std::atomic<std::uint32_t> sample_every{0};
    // Grows with every slot that somebody looks at.
    std::atomic<std::uint64_t> next_slot{0};
    // Slots that cannot be claimed: while that is all of them, nobody need look.
    std::atomic<std::uint32_t> busy_slots{0};
    std::atomic<std::uint64_t> intervals{0};
    GuardSlot* slots = nullptr;

    [[nodiscard]] MemoryBlock bytes_of(std::size_t index) const noexcept {
        return {pages.data + index * stride_bytes, slot_bytes};
    }
    // Requires: the address lies in the pages.
    [[nodiscard]] std::size_t index_of(const void* address) const noexcept {
        return static_cast<std::size_t>(static_cast<const std::byte*>(address) - pages.data) / stride_bytes;
    }
    // A slot that nobody uses, in state `changing`; null when there is none.
    [[nodiscard]] GuardSlot* claim() noexcept;
    // Requires: state `changing`.
    void let_go(GuardSlot& slot, SlotState state) noexcept {
        slot.state.store(state, std::memory_order_release);
        busy_slots.fetch_sub(1, std::memory_order_relaxed);
    }
    // Gives the slot its place and its memory.
    [[nodiscard]] Status place(GuardSlot& slot, std::size_t size, std::size_t alignment) noexcept;
    [[nodiscard]] std::uint32_t draw_interval() noexcept;
    [[nodiscard]] bool describe(const void* address, MemoryErrorReport& report) const noexcept;
    // The block that an access between the slots, or inside one, is most likely about.
    [[nodiscard]] const GuardSlot* slot_near(const void* address) const noexcept;
    void fill_report(const GuardSlot& slot, MemoryErrorReport& report) const noexcept;
};

// Lets describe_fault and the observer of faults find the state. More than there is room for are not found.
void register_guards(const SampledGuards::State& state) noexcept;
// Returns when no report reads the state any more.
void forget_guards(const SampledGuards::State& state) noexcept;

}  // namespace ouro
