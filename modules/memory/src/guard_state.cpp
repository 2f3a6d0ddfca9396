#include "guard_state.hpp"

#include "guard_bytes.hpp"

#include <ouro/memory/annotations.hpp>

#include <algorithm>
#include <cstring>

namespace ouro {

MemoryBlock front_canary(const BlockRecord& record) noexcept {
    const auto bytes = static_cast<std::size_t>(record.block.data - record.raw.data);
    const std::size_t watched = std::min(bytes, kMaxCanaryBytes);
    return {record.block.data - watched, watched};
}

MemoryBlock back_canary(const BlockRecord& record) noexcept {
    const auto bytes = static_cast<std::size_t>(record.raw.end() - record.block.end());
    return {record.block.end(), std::min(bytes, kMaxCanaryBytes)};
}

Damage damage_beside(const BlockRecord& record) noexcept {
    const annotate::QuietScope quiet;
    if (const std::byte* behind = guard_bytes::first_damage(back_canary(record)); behind != nullptr)
        return {MemoryError::overflow, behind};
    return {MemoryError::underflow, guard_bytes::last_damage(front_canary(record))};
}

Damage damage_of_freed(const BlockRecord& record) noexcept {
    const annotate::QuietScope quiet;
    const std::byte* inside = guard_bytes::first_other(record.block, guard_bytes::kFreed);
    if (inside != nullptr) return {MemoryError::use_after_free, inside};
    // Beside a block that was in order when it was freed.
    const Damage beside = damage_beside(record);
    return {MemoryError::use_after_free, beside.address};
}

void GuardCore::State::prepare(const BlockRecord& record) const noexcept {
    guard_bytes::write_canary(front_canary(record));
    guard_bytes::write_canary(back_canary(record));
}

void GuardCore::State::forbid_canaries(const BlockRecord& record) const noexcept {
    if (!annotate::kActive || !options.annotate) return;
    annotate::forbid(front_canary(record));
    annotate::forbid(back_canary(record));
}

void GuardCore::State::permit_all(const BlockRecord& record) const noexcept {
    if (annotate::kActive && options.annotate) annotate::permit_written(record.raw);
}

void GuardCore::State::repair(const BlockRecord& record) const noexcept {
    permit_all(record);
    prepare(record);
    if (record.state != RecordState::quarantined) return forbid_canaries(record);
    std::memset(record.block.data, guard_bytes::kFreed, record.block.size);
    if (annotate::kActive && options.annotate) annotate::forbid(record.raw);
}

void GuardCore::State::count_allocation(std::size_t bytes) noexcept {
    ++counts.allocations;
    ++counts.live_blocks;
    counts.live_bytes += bytes;
    counts.peak_bytes = std::max(counts.peak_bytes, counts.live_bytes);
}

void GuardCore::State::count_free(std::size_t bytes) noexcept {
    --counts.live_blocks;
    counts.live_bytes -= bytes;
}

Expected<MemoryBlock> GuardCore::State::count_failure(Expected<MemoryBlock> result) noexcept {
    if (result) return result;
    const GuardLockScope scope(lock);
    ++counts.failures;
    return result;
}

void GuardCore::State::fill_report(const BlockRecord& record, MemoryErrorReport& report) const noexcept {
    report.block = record.block;
    report.alignment = record.alignment;
    report.resource = options.name;
    report.owner = options.name;
    report.allocated_at = record.allocated_at;
    report.freed_at = record.freed_at;
}

void GuardCore::State::report_damage(const BlockRecord& record, Damage damage,
                                     const CallSites& sites) noexcept {
    if (!damage) return;
    MemoryErrorReport report{.error = damage.error, .address = damage.address};
    fill_report(record, report);
    report.noticed_at = sites;
    report_memory_error(report);
}

void GuardCore::State::report_bad_pointer(MemoryErrorReport& report) noexcept {
    if (find_other_owner(*this, report.address, report)) {
        report.error = MemoryError::wrong_resource;
    } else {
        report.error = MemoryError::foreign_pointer;
        const GuardLockScope scope(lock);
        const BlockRecord* record = ledger.find(report.address);
        if (record != nullptr) report.error = MemoryError::double_free;
        if (record == nullptr) record = ledger.find_around(report.address);
        if (record != nullptr) fill_report(*record, report);
    }
    report.resource = options.name;
    report_memory_error(report);
}

BlockRecord* GuardCore::State::begin_change(MemoryBlock block, std::size_t alignment,
                                            const CallSites& sites) noexcept {
    MemoryErrorReport report{.address = block.data, .said_block = block, .said_alignment = alignment};
    report.noticed_at = sites;
    BlockRecord* record = nullptr;
    {
        const GuardLockScope scope(lock);
        record = ledger.find(block.data);
        if (record != nullptr && record->state != RecordState::live) record = nullptr;
        if (record != nullptr) record->state = RecordState::changing;
    }
    if (record == nullptr) {
        report_bad_pointer(report);
        return nullptr;
    }
    fill_report(*record, report);
    if (block.size != record->block.size) {
        report.error = MemoryError::wrong_size;
        report_memory_error(report);
    }
    if (alignment != record->alignment) {
        report.error = MemoryError::wrong_alignment;
        report_memory_error(report);
    }
    if (const Damage damage = damage_beside(*record)) {
        report_damage(*record, damage, sites);
        repair(*record);
    }
    return record;
}

void GuardCore::State::finish_free(BlockRecord& record, const CallSites& sites) noexcept {
    permit_all(record);
    std::memset(record.block.data, guard_bytes::kFreed, record.block.size);
    record.freed_at = sites;
    const bool keeps = options.quarantine_blocks != 0 && record.raw.size <= options.quarantine_bytes;
    {
        const GuardLockScope scope(lock);
        count_free(record.block.size);
        if (keeps) {
            if (annotate::kActive && options.annotate) annotate::forbid(record.raw);
            quarantine_bytes += record.raw.size;
            ledger.put_in_quarantine(record);
        }
    }
    if (!keeps) return return_to_upstream(record);
    while (quarantine_is_full())
        evict_oldest(sites);
}

bool GuardCore::State::quarantine_is_full() noexcept {
    const GuardLockScope scope(lock);
    return ledger.quarantined() > options.quarantine_blocks || quarantine_bytes > options.quarantine_bytes;
}

bool GuardCore::State::evict_oldest(const CallSites& sites) noexcept {
    BlockRecord* record = nullptr;
    {
        const GuardLockScope scope(lock);
        record = ledger.take_from_quarantine();
        if (record == nullptr) return false;
        quarantine_bytes -= record->raw.size;
    }
    report_damage(*record, damage_of_freed(*record), sites);
    return_to_upstream(*record);
    return true;
}

void GuardCore::State::return_to_upstream(BlockRecord& record) noexcept {
    permit_all(record);
    const MemoryBlock raw = record.raw;
    const std::size_t alignment = record.alignment;
    {
        // Before the upstream has it: another thread may be given the same addresses at once.
        const GuardLockScope scope(lock);
        ledger.retire(record);
    }
    upstream->deallocate(raw, alignment);
}

void GuardCore::State::add_leaks_to(LeakReport& report) noexcept {
    if (!upstream->info().frees_blocks) return;
    const GuardLockScope scope(lock);
    for (RecordIndex index = 0; index < ledger.record_count(); ++index) {
        const BlockRecord& record = ledger.at(index);
        if (record.state == RecordState::live)
            report.add(options.name, record.block, record.alignment, record.allocated_at);
    }
    struct Target {
        LeakReport& report;
        const char* name;
    } target{report, options.name};
    guards.visit_live(
        [](void* context, MemoryBlock block, std::size_t alignment, const CallSites& allocated_at) {
            const auto& to = *static_cast<Target*>(context);
            to.report.add(to.name, block, alignment, allocated_at);
        },
        &target);
}

}  // namespace ouro
