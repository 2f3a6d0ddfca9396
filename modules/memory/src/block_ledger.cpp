#include "block_ledger.hpp"

#include <ouro/base/align.hpp>
#include <ouro/base/bits.hpp>

#include <algorithm>
#include <memory>
#include <utility>

namespace ouro {
namespace {

// Gone blocks that are remembered before their records are used again.
constexpr std::uint32_t kRemembered = 4096;
constexpr std::size_t kCommitStep = std::size_t{64} << 10;

Expected<os::Reservation> reserve_for(std::size_t count, std::size_t each) noexcept {
    const auto bytes = checked_multiply(count, each);
    if (!bytes) return bytes.status();
    return os::Reservation::create({.bytes = *bytes});
}

}  // namespace

Expected<BlockLedger> BlockLedger::create(std::uint32_t max_records) noexcept {
    if (max_records == 0) return Status::zero_size;
    if (max_records > kNoRecord / 2) return Status::size_overflow;
    BlockLedger ledger;
    auto records = reserve_for(max_records, sizeof(BlockRecord));
    if (!records) return records.status();
    ledger.bucket_bits_ = log2_floor(std::size_t{max_records}) + 1;
    auto buckets = reserve_for(std::size_t{1} << ledger.bucket_bits_, sizeof(RecordIndex));
    if (!buckets) return buckets.status();
    // Fresh memory is zero, so a bucket holds the index plus one.
    if (const auto done = buckets->commit(0, buckets->block().size); !done) return done.status();
    ledger.max_records_ = max_records;
    ledger.record_memory_ = *std::move(records);
    ledger.bucket_memory_ = *std::move(buckets);
    return ledger;
}

RecordIndex& BlockLedger::bucket_of(const void* address) const noexcept {
    const auto key = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(address));
    const std::uint64_t mixed = key * 0x9E3779B97F4A7C15U;
    return reinterpret_cast<RecordIndex*>(bucket_memory_.block().data)[mixed >> (64 - bucket_bits_)];
}

BlockRecord* BlockLedger::find(const void* address) noexcept {
    for (RecordIndex index = bucket_of(address) - 1; index != kNoRecord; index = at(index).next_in_bucket) {
        if (at(index).block.data == address) return &at(index);
    }
    return nullptr;
}

BlockRecord* BlockLedger::find_around(const void* address) noexcept {
    BlockRecord* found = nullptr;
    for (RecordIndex index = 0; index < used_; ++index) {
        BlockRecord& record = at(index);
        if (!record.raw.contains(address)) continue;
        if (record.state == RecordState::live) return &record;
        found = &record;
    }
    return found;
}

void BlockLedger::link(BlockRecord& record) noexcept {
    RecordIndex& bucket = bucket_of(record.block.data);
    record.next_in_bucket = bucket - 1;
    bucket = index_of(record) + 1;
}

void BlockLedger::unlink(BlockRecord& record) noexcept {
    const RecordIndex own = index_of(record);
    RecordIndex& bucket = bucket_of(record.block.data);
    if (bucket == own + 1) {
        bucket = record.next_in_bucket + 1;
        return;
    }
    RecordIndex before = bucket - 1;
    while (at(before).next_in_bucket != own)
        before = at(before).next_in_bucket;
    at(before).next_in_bucket = record.next_in_bucket;
}

void BlockLedger::append(List& list, BlockRecord& record) noexcept {
    const RecordIndex own = index_of(record);
    record.older = list.newest;
    record.newer = kNoRecord;
    if (list.newest != kNoRecord) at(list.newest).newer = own;
    if (list.oldest == kNoRecord) list.oldest = own;
    list.newest = own;
    ++list.count;
}

void BlockLedger::remove(List& list, BlockRecord& record) noexcept {
    (record.older != kNoRecord ? at(record.older).newer : list.oldest) = record.newer;
    (record.newer != kNoRecord ? at(record.newer).older : list.newest) = record.older;
    --list.count;
}

BlockRecord* BlockLedger::fresh_record() noexcept {
    const bool can_grow = used_ < max_records_;
    if (gone_.count >= kRemembered || (!can_grow && gone_.count != 0)) {
        BlockRecord& oldest = at(gone_.oldest);
        remove(gone_, oldest);
        unlink(oldest);
        return &oldest;
    }
    if (!can_grow) return nullptr;
    if (used_ >= committed_records_) {
        const std::size_t whole = record_memory_.block().size;
        const std::size_t begin = committed_bytes();
        const std::size_t step = std::min(align_up(kCommitStep, os::page_size()), whole - begin);
        if (!record_memory_.commit(begin, step)) return nullptr;
        committed_records_ = (begin + step) / sizeof(BlockRecord);
    }
    return std::construct_at(&at(used_++));
}

std::size_t BlockLedger::committed_bytes() const noexcept {
    if (committed_records_ == 0) return 0;
    const std::size_t bytes = align_up(committed_records_ * sizeof(BlockRecord), os::page_size());
    return std::min(bytes, record_memory_.block().size);
}

BlockRecord* BlockLedger::add(MemoryBlock block) noexcept {
    BlockRecord* record = find(block.data);
    if (record != nullptr && record->state == RecordState::gone) {
        remove(gone_, *record);
    } else if (record == nullptr || record->state != RecordState::live) {
        record = fresh_record();
        if (record == nullptr) return nullptr;
        record->block = block;
        link(*record);
    }
    // A live one was given out again: the upstream was reset as a whole below us.
    record->block = block;
    record->state = RecordState::live;
    record->freed_at.clear();
    return record;
}

void BlockLedger::move(BlockRecord& record, MemoryBlock block) noexcept {
    unlink(record);
    record.block = block;
    link(record);
}

void BlockLedger::put_in_quarantine(BlockRecord& record) noexcept {
    record.state = RecordState::quarantined;
    append(quarantine_, record);
}

BlockRecord* BlockLedger::take_from_quarantine() noexcept {
    if (quarantine_.count == 0) return nullptr;
    BlockRecord& oldest = at(quarantine_.oldest);
    remove(quarantine_, oldest);
    oldest.state = RecordState::changing;
    return &oldest;
}

void BlockLedger::retire(BlockRecord& record) noexcept {
    record.state = RecordState::gone;
    append(gone_, record);
}

Status BlockLedger::check() noexcept {
    std::uint32_t quarantined = 0;
    std::uint32_t gone = 0;
    for (RecordIndex index = 0; index < used_; ++index) {
        const BlockRecord& record = at(index);
        quarantined += record.state == RecordState::quarantined ? 1U : 0U;
        gone += record.state == RecordState::gone ? 1U : 0U;
        if (find(record.block.data) == nullptr) return Status::corrupt_data;
    }
    return quarantined == quarantine_.count && gone == gone_.count ? Status::ok : Status::corrupt_data;
}

}  // namespace ouro
