// What a guarded allocator tells of itself, and the looks at all of its blocks at once.
#include "guard_bytes.hpp"
#include "guard_state.hpp"

#include <ouro/memory/annotations.hpp>

namespace ouro {
namespace {

Damage damage_of(const BlockRecord& record) noexcept {
    switch (record.state) {
        case RecordState::live:
            return damage_beside(record);
        case RecordState::quarantined:
            return damage_of_freed(record);
        case RecordState::changing:
        case RecordState::gone:
            break;
    }
    return {};
}

}  // namespace

bool GuardCore::owns(const void* address) const noexcept {
    return state().guards.owns(address) || state().upstream->owns(address);
}

ResourceInfo GuardCore::info() const noexcept {
    ResourceInfo info = state().upstream->info();
    info.name = state().options.name;
    return info;
}

ResourceStats GuardCore::stats() const noexcept {
    const ResourceStats below = state().upstream->stats();
    const std::size_t guarded_bytes = state().guards.reserved_bytes();
    const GuardLockScope scope(state().lock);
    ResourceStats stats = state().counts;
    // What is handed on is counted below, what has pages of its own here. Their peaks need not have been at
    // the same time.
    if (hands_on_) {
        stats.live_bytes += below.live_bytes;
        stats.peak_bytes += below.peak_bytes;
        stats.live_blocks += below.live_blocks;
        stats.allocations += below.allocations;
        stats.failures += below.failures;
    }
    stats.reserved_bytes = below.reserved_bytes + guarded_bytes;
    stats.committed_bytes = below.committed_bytes + state().ledger.committed_bytes();
    return stats;
}

Status GuardCore::check() const noexcept {
    const Status guards = state().guards.check();
    if (guards != Status::ok) return guards;
    {
        const GuardLockScope scope(state().lock);
        for (RecordIndex index = 0; index < state().ledger.record_count(); ++index) {
            if (damage_of(state().ledger.at(index))) return Status::corrupt_data;
        }
        const Status ledger = state().ledger.check();
        if (ledger != Status::ok) return ledger;
    }
    return state().upstream->check();
}

std::size_t GuardCore::inspect() noexcept {
    std::size_t found = 0;
    for (RecordIndex index = 0;; ++index) {
        BlockRecord copy;
        Damage damage;
        {
            const GuardLockScope scope(state().lock);
            if (index >= state().ledger.record_count()) return found;
            BlockRecord& record = state().ledger.at(index);
            damage = damage_of(record);
            if (!damage) continue;
            copy = record;
            state().repair(record);
        }
        ++found;
        CallSites sites;
        sites.capture(1);
        state().report_damage(copy, damage, sites);
    }
}

void GuardCore::flush_quarantine() noexcept {
    CallSites sites;
    sites.capture(1);
    while (state().evict_oldest(sites)) {
    }
}

Expected<ResourceMark> GuardCore::place_mark() noexcept {
    if (state().guards.reserved_bytes() != 0) return Status::not_supported;
    // What was freed before the mark must not be freed below after it.
    flush_quarantine();
    auto mark = state().upstream->place_mark();
    if (!mark) return mark;
    {
        const GuardLockScope scope(state().lock);
        if (mark->push({.blocks = state().newest_number})) return mark;
    }
    // Those below shall not wait for the end of a mark that nobody has.
    state().upstream->free_since(*mark);
    return Status::capacity_exhausted;
}

void GuardCore::free_since(ResourceMark mark) noexcept {
    const ResourceMark::Level then = mark.pop();
    CallSites sites;
    sites.capture(1);
    flush_quarantine();
    state().forget_younger(then.blocks, sites);
    state().upstream->free_since(mark);
}

void GuardCore::State::forget_younger(std::uint64_t number, const CallSites& sites) noexcept {
    for (RecordIndex index = 0;; ++index) {
        BlockRecord copy;
        Damage damage;
        {
            const GuardLockScope scope(lock);
            if (index >= ledger.record_count()) return;
            BlockRecord& record = ledger.at(index);
            if (record.state != RecordState::live || record.number <= number) continue;
            damage = damage_beside(record);
            copy = record;
            permit_all(record);
            count_free(record.block.size);
            ledger.retire(record);
        }
        report_damage(copy, damage, sites);
    }
}

void GuardCore::release_all() noexcept {
    flush_quarantine();
    (void)inspect();
    {
        const GuardLockScope scope(state().lock);
        for (RecordIndex index = 0; index < state().ledger.record_count(); ++index) {
            BlockRecord& record = state().ledger.at(index);
            if (record.state != RecordState::live) continue;
            state().permit_all(record);
            state().count_free(record.block.size);
            state().ledger.retire(record);
        }
    }
    state().guards.visit_live(
        [](void* context, MemoryBlock block, std::size_t, const CallSites&) {
            auto& state = *static_cast<State*>(context);
            state.guards.deallocate(block.data);
            const GuardLockScope scope(state.lock);
            state.count_free(block.size);
        },
        state_);
}

}  // namespace ouro
