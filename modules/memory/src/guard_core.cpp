#include "guard_bytes.hpp"
#include "guard_state.hpp"

#include <ouro/memory/annotations.hpp>
#include <ouro/memory/detail/guard_core.hpp>
#include <ouro/memory/no_allocation_scope.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

namespace ouro {
namespace {

Expected<SampledGuards> make_guards(const GuardOptions& options) noexcept {
    auto guards = SampledGuards::create({.name = options.name,
                                         .slots = options.guard_slots,
                                         .slot_bytes = options.guard_slot_bytes,
                                         .sample_every = options.sample_every,
                                         .side = options.guard_side});
    if (!guards && guards.status() == Status::not_supported) return SampledGuards();
    return guards;
}

void report_leaks_of(GuardCore::State& state) noexcept {
    LeakReport leaks;
    state.add_leaks_to(leaks);
    leaks.sort();
    for (const LeakReport::Group& group : leaks.groups()) {
        MemoryErrorReport report{.error = MemoryError::leak, .address = group.block.data};
        report.block = group.block;
        report.alignment = group.alignment;
        report.resource = group.resource;
        report.owner = group.resource;
        report.allocated_at = group.allocated_at;
        report.blocks = group.blocks;
        report.bytes = group.bytes;
        report_memory_error(report);
    }
}

}  // namespace

Expected<GuardCore> GuardCore::create(MemoryResource& upstream, const GuardOptions& options,
                                      HardeningTier tier) noexcept {
    auto ledger = BlockLedger::create(options.max_blocks);
    if (!ledger) return ledger.status();
    auto guards =
        tier == HardeningTier::hardened ? make_guards(options) : Expected<SampledGuards>(SampledGuards());
    if (!guards) return guards.status();
    auto home = os::Reservation::create({.bytes = sizeof(State)});
    if (!home) return home.status();
    if (const auto done = home->commit(0, home->block().size); !done) return done.status();
    auto* state = std::construct_at(reinterpret_cast<State*>(home->block().data));
    state->upstream = &upstream;
    state->options = options;
    state->ledger = *std::move(ledger);
    state->guards = *std::move(guards);
    register_core(*state);
    GuardCore core(*std::move(home), state);
    core.hands_on_ = tier == HardeningTier::hardened && !options.check_unsampled;
    return core;
}

GuardCore::GuardCore(os::Reservation home, State* state) noexcept
    : home_(std::move(home)), state_(state), guards_(&state->guards) {}

GuardCore::GuardCore(GuardCore&& other) noexcept
    : home_(std::move(other.home_)),
      state_(std::exchange(other.state_, nullptr)),
      guards_(std::exchange(other.guards_, nullptr)),
      hands_on_(std::exchange(other.hands_on_, false)) {}

GuardCore& GuardCore::operator=(GuardCore&& other) noexcept {
    if (this != &other) {
        std::destroy_at(this);
        std::construct_at(this, std::move(other));
    }
    return *this;
}

GuardCore::~GuardCore() {
    if (state_ == nullptr) return;
    forget_core(*state_);
    flush_quarantine();
    if (state().options.report_leaks) report_leaks_of(*state_);
    std::destroy_at(state_);
}

Expected<MemoryBlock> GuardCore::State::allocate_raw(std::size_t size, std::size_t alignment) noexcept {
    const auto with_front = checked_add(size, front_bytes(alignment));
    if (!with_front) return with_front.status();
    const auto total = checked_add(*with_front, kCanaryBytes);
    if (!total) return total.status();
    auto raw = upstream->allocate(*total, alignment);
    // What is in quarantine is memory too.
    while (!raw && evict_oldest())
        raw = upstream->allocate(*total, alignment);
    return raw;
}

bool GuardCore::State::add_record(const BlockRecord& wanted) noexcept {
    const GuardLockScope scope(lock);
    BlockRecord* record = ledger.add(wanted.block);
    if (record == nullptr) return false;
    record->raw = wanted.raw;
    record->alignment = wanted.alignment;
    record->allocated_at = wanted.allocated_at;
    count_allocation(wanted.block.size);
    record->number = ++newest_number;
    return true;
}

Expected<MemoryBlock> GuardCore::State::allocate_checked(std::size_t size, std::size_t alignment,
                                                         const CallSites& sites) noexcept {
    const auto raw = allocate_raw(size, alignment);
    if (!raw) return raw;
    BlockRecord record;
    record.block = {raw->data + front_bytes(alignment), size};
    record.raw = *raw;
    record.alignment = alignment;
    record.allocated_at = sites;
    std::memset(record.block.data, guard_bytes::kFresh, size);
    prepare(record);
    while (!add_record(record)) {
        if (evict_oldest()) continue;
        upstream->deallocate(*raw, alignment);
        return Status::capacity_exhausted;
    }
    forbid_canaries(record);
    return record.block;
}

Expected<MemoryBlock> GuardCore::State::allocate_guarded(std::size_t size, std::size_t alignment) noexcept {
    const auto block = guards.allocate(size, alignment);
    if (block) {
        const GuardLockScope scope(lock);
        count_allocation(size);
    }
    return block;
}

Expected<MemoryBlock> GuardCore::allocate(std::size_t size, std::size_t alignment) noexcept {
    const Status asked = check_allocation(size, alignment);
    if (asked != Status::ok) return state().count_failure(asked);
    note_allocation();
    // Who hands on has asked already.
    if (hands_on_ || state().guards.should_sample()) {
        const auto guarded = state().allocate_guarded(size, alignment);
        if (guarded) return guarded;
        if (hands_on_) return state().upstream->allocate(size, alignment);
    }
    CallSites sites;
    sites.capture(1);
    return state().count_failure(state().allocate_checked(size, alignment, sites));
}

void GuardCore::State::free_guarded(MemoryBlock block, std::size_t alignment) noexcept {
    const MemoryBlock known = guards.block_at(block.data);
    guards.deallocate(block, alignment);
    if (known.is_null()) return;
    const GuardLockScope scope(lock);
    count_free(known.size);
}

void GuardCore::deallocate(MemoryBlock block, std::size_t alignment) noexcept {
    if (block.is_null()) return;
    if (state().guards.owns(block.data)) return state().free_guarded(block, alignment);
    if (hands_on_) return state().upstream->deallocate(block, alignment);
    CallSites sites;
    sites.capture(1);
    BlockRecord* record = state().begin_change(block, alignment, sites);
    if (record == nullptr) return;
    state().finish_free(*record, sites);
}

Expected<MemoryBlock> GuardCore::State::change_size(Change function, BlockRecord& record,
                                                    std::size_t new_size) noexcept {
    const auto more = checked_add(new_size, front_bytes(record.alignment) + kCanaryBytes);
    permit_all(record);
    const auto raw = more ? (upstream->*function)(record.raw, *more, record.alignment)
                          : Expected<MemoryBlock>(more.status());
    const GuardLockScope scope(lock);
    if (raw) {
        const std::size_t old_size = record.block.size;
        const MemoryBlock block{raw->data + front_bytes(record.alignment), new_size};
        if (new_size > old_size) std::memset(block.data + old_size, guard_bytes::kFresh, new_size - old_size);
        // What lies elsewhere now, or reaches further, lies above every mark there is.
        if (raw->data != record.raw.data || raw->size > record.raw.size) record.number = ++newest_number;
        record.raw = *raw;
        ledger.move(record, block);
        counts.live_bytes = counts.live_bytes - old_size + new_size;
        counts.peak_bytes = std::max(counts.peak_bytes, counts.live_bytes);
        prepare(record);
    }
    forbid_canaries(record);
    record.state = RecordState::live;
    return raw ? Expected<MemoryBlock>(record.block) : raw;
}

Expected<MemoryBlock> GuardCore::reallocate(MemoryBlock block, std::size_t new_size,
                                            std::size_t alignment) noexcept {
    if (block.is_null()) {
        if (hands_on_ && !state().guards.should_sample())
            return state().upstream->allocate(new_size, alignment);
        return allocate(new_size, alignment);
    }
    const Status asked = check_allocation(new_size, alignment);
    if (asked != Status::ok) return state().count_failure(asked);
    const bool guarded = state().guards.owns(block.data);
    if (hands_on_ && !guarded) return state().upstream->reallocate(block, new_size, alignment);
    if (guarded) return state().move_guarded(*this, block, new_size, alignment);
    CallSites sites;
    sites.capture(1);
    BlockRecord* record = state().begin_change(block, alignment, sites);
    if (record == nullptr) return state().count_failure(Status::bad_address);
    if (state().options.quarantine_blocks == 0)
        return state().count_failure(state().change_size(&MemoryResource::reallocate, *record, new_size));
    // Elsewhere, always: whoever still uses the old place is found.
    const auto moved = allocate(new_size, alignment);
    if (!moved) {
        const GuardLockScope scope(state().lock);
        record->state = RecordState::live;
        return moved;
    }
    std::memcpy(moved->data, record->block.data, std::min(new_size, record->block.size));
    state().finish_free(*record, sites);
    return moved;
}

Expected<MemoryBlock> GuardCore::try_resize(MemoryBlock block, std::size_t new_size,
                                            std::size_t alignment) noexcept {
    const Status asked = check_allocation(new_size, alignment);
    if (asked != Status::ok) return asked;
    // A guarded block has its guard right behind it.
    if (state().guards.owns(block.data)) return Status::capacity_exhausted;
    if (hands_on_) return state().upstream->try_resize(block, new_size, alignment);
    CallSites sites;
    sites.capture(1);
    BlockRecord* record = state().begin_change(block, alignment, sites);
    if (record == nullptr) return Status::bad_address;
    return state().change_size(&MemoryResource::try_resize, *record, new_size);
}

Expected<MemoryBlock> GuardCore::State::move_guarded(GuardCore& core, MemoryBlock block, std::size_t new_size,
                                                     std::size_t alignment) noexcept {
    const MemoryBlock known = guards.block_at(block.data);
    if (known.is_null()) {
        free_guarded(block, alignment);
        return count_failure(Status::bad_address);
    }
    const auto moved = core.allocate(new_size, alignment);
    if (!moved) return moved;
    std::memcpy(moved->data, known.data, std::min(new_size, known.size));
    free_guarded(block, alignment);
    return moved;
}

}  // namespace ouro
