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
    return state_->guards.owns(address) || state_->upstream->owns(address);
}

ResourceInfo GuardCore::info() const noexcept {
    ResourceInfo info = state_->upstream->info();
    info.name = state_->options.name;
    return info;
}

ResourceStats GuardCore::stats() const noexcept {
    const ResourceStats below = state_->upstream->stats();
    const std::size_t guarded_bytes = state_->guards.reserved_bytes();
    const GuardLockScope scope(state_->lock);
    ResourceStats stats = hands_on_ ? below : state_->counts;
    if (hands_on_) stats.live_blocks += state_->guards.live_blocks();
    stats.reserved_bytes = below.reserved_bytes + guarded_bytes;
    stats.committed_bytes = below.committed_bytes + state_->ledger.committed_bytes();
    return stats;
}

Status GuardCore::check() const noexcept {
    const Status guards = state_->guards.check();
    if (guards != Status::ok) return guards;
    {
        const GuardLockScope scope(state_->lock);
        for (RecordIndex index = 0; index < state_->ledger.record_count(); ++index) {
            if (damage_of(state_->ledger.at(index))) return Status::corrupt_data;
        }
        const Status ledger = state_->ledger.check();
        if (ledger != Status::ok) return ledger;
    }
    return state_->upstream->check();
}

std::size_t GuardCore::inspect() noexcept {
    std::size_t found = 0;
    for (RecordIndex index = 0;; ++index) {
        BlockRecord copy;
        Damage damage;
        {
            const GuardLockScope scope(state_->lock);
            if (index >= state_->ledger.record_count()) return found;
            BlockRecord& record = state_->ledger.at(index);
            damage = damage_of(record);
            if (!damage) continue;
            copy = record;
            state_->repair(record);
        }
        ++found;
        CallSites sites;
        sites.capture(1);
        state_->report_damage(copy, damage, sites);
    }
}

void GuardCore::flush_quarantine() noexcept {
    CallSites sites;
    sites.capture(1);
    while (state_->evict_oldest(sites)) {
    }
}

Expected<ResourceMark> GuardCore::place_mark() noexcept {
    if (state_->guards.reserved_bytes() != 0) return Status::not_supported;
    auto mark = state_->upstream->place_mark();
    if (!mark) return mark;
    const GuardLockScope scope(state_->lock);
    return mark->push({.blocks = state_->newest_number}) ? mark : Status::capacity_exhausted;
}

void GuardCore::free_since(ResourceMark mark) noexcept {
    const ResourceMark::Level then = mark.pop();
    CallSites sites;
    sites.capture(1);
    flush_quarantine();
    state_->forget_younger(then.blocks, sites);
    state_->upstream->free_since(mark);
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
        const GuardLockScope scope(state_->lock);
        for (RecordIndex index = 0; index < state_->ledger.record_count(); ++index) {
            BlockRecord& record = state_->ledger.at(index);
            if (record.state != RecordState::live) continue;
            state_->permit_all(record);
            state_->count_free(record.block.size);
            state_->ledger.retire(record);
        }
    }
    state_->guards.visit_live(
        [](void* state, MemoryBlock block, std::size_t, const CallSites&) {
            static_cast<State*>(state)->guards.deallocate(block.data);
        },
        state_);
}

}  // namespace ouro
