#pragma once

#include "block_ledger.hpp"
#include "guard_lock.hpp"

#include <ouro/memory/detail/guard_core.hpp>
#include <ouro/memory/leak_report.hpp>

#include <cstddef>
#include <cstdint>

namespace ouro {

// Behind a block and in front of it at least; what the upstream gave beyond is watched as far as this.
inline constexpr std::size_t kCanaryBytes = 16;
inline constexpr std::size_t kMaxCanaryBytes = 128;

// How a record's block lies in what the upstream gave:
//
//     raw.data      block.data            block.end()                  raw.end()
//     | front canary | the bytes asked for | canary, exactly behind it |
[[nodiscard]] constexpr std::size_t front_bytes(std::size_t alignment) noexcept {
    return alignment > kCanaryBytes ? alignment : kCanaryBytes;
}
[[nodiscard]] MemoryBlock front_canary(const BlockRecord& record) noexcept;
[[nodiscard]] MemoryBlock back_canary(const BlockRecord& record) noexcept;

// What is wrong with a block, if anything.
struct Damage {
    MemoryError error{};
    const std::byte* address = nullptr;

    explicit operator bool() const noexcept { return address != nullptr; }
};
[[nodiscard]] Damage damage_beside(const BlockRecord& record) noexcept;
// Of a freed one, writes into it as well.
[[nodiscard]] Damage damage_of_freed(const BlockRecord& record) noexcept;

// The one instance behind a GuardCore, at an address that stays. The lock is held while records and counters
// change, never while the upstream or a handler is called.
struct GuardCore::State {
    MemoryResource* upstream = nullptr;
    GuardOptions options;
    BlockLedger ledger;
    SampledGuards guards;
    GuardLock lock;
    ResourceStats counts;
    // Of the records: the order in which their blocks came to lie where they do. Marks refer to it.
    std::uint64_t newest_number = 0;
    std::size_t quarantine_bytes = 0;
    // Neighbours in the list of all.
    State* next = nullptr;

    [[nodiscard]] Expected<MemoryBlock> allocate_checked(std::size_t size, std::size_t alignment,
                                                         const CallSites& sites) noexcept;
    [[nodiscard]] Expected<MemoryBlock> allocate_raw(std::size_t size, std::size_t alignment) noexcept;
    [[nodiscard]] bool add_record(const BlockRecord& wanted) noexcept;

    // Blocks on pages of their own.
    [[nodiscard]] Expected<MemoryBlock> allocate_guarded(std::size_t size, std::size_t alignment) noexcept;
    void free_guarded(MemoryBlock block, std::size_t alignment) noexcept;
    [[nodiscard]] Expected<MemoryBlock> move_guarded(GuardCore& core, MemoryBlock block, std::size_t new_size,
                                                     std::size_t alignment) noexcept;

    // The record of a block that may be freed, in state `changing`; null after a report when it may not be.
    [[nodiscard]] BlockRecord* begin_change(MemoryBlock block, std::size_t alignment,
                                            const CallSites& sites) noexcept;
    void report_bad_pointer(MemoryErrorReport& report) noexcept;
    void report_damage(const BlockRecord& record, Damage damage, const CallSites& sites) noexcept;
    void fill_report(const BlockRecord& record, MemoryErrorReport& report) const noexcept;

    // Requires: state `changing`. Fills the block, and keeps it for a while or returns it.
    void finish_free(BlockRecord& record, const CallSites& sites) noexcept;
    void return_to_upstream(BlockRecord& record) noexcept;
    // Returns the oldest block of the quarantine after a look at it; false when there is none.
    bool evict_oldest(const CallSites& sites) noexcept;
    bool evict_oldest() noexcept { return evict_oldest(CallSites()); }
    [[nodiscard]] bool quarantine_is_full() noexcept;
    // Lets the upstream change what lies under the block by one of its two functions. Requires: state
    // `changing`, which ends here.
    using Change = Expected<MemoryBlock> (MemoryResource::*)(MemoryBlock, std::size_t, std::size_t) noexcept;
    [[nodiscard]] Expected<MemoryBlock> change_size(Change function, BlockRecord& record,
                                                    std::size_t new_size) noexcept;
    // The blocks with a higher number are gone from the upstream, or will be.
    void forget_younger(std::uint64_t number, const CallSites& sites) noexcept;

    void prepare(const BlockRecord& record) const noexcept;
    void forbid_canaries(const BlockRecord& record) const noexcept;
    void permit_all(const BlockRecord& record) const noexcept;
    // Writes anew what was damaged, so that it is told once.
    void repair(const BlockRecord& record) const noexcept;

    void count_allocation(std::size_t bytes) noexcept;
    void count_free(std::size_t bytes) noexcept;
    [[nodiscard]] Expected<MemoryBlock> count_failure(Expected<MemoryBlock> result) noexcept;
    void add_leaks_to(LeakReport& report) noexcept;
};

// All guarded allocators of the process.
void register_core(GuardCore::State& state) noexcept;
void forget_core(GuardCore::State& state) noexcept;
// Completes the report when another guarded allocator than this one has the block.
[[nodiscard]] bool find_other_owner(const GuardCore::State& asking, const void* address,
                                    MemoryErrorReport& report) noexcept;

}  // namespace ouro
