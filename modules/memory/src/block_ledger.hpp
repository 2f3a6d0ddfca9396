#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/base/memory_block.hpp>
#include <ouro/memory/call_sites.hpp>
#include <ouro/os/reservation.hpp>

#include <cstddef>
#include <cstdint>

namespace ouro {

enum class RecordState : std::uint8_t {
    live,
    // Being freed, changed or let go: only the thread that brought it here may go on.
    changing,
    quarantined,
    // Returned to the upstream; remembered for a while, to tell a double free from a foreign pointer.
    gone,
};

using RecordIndex = std::uint32_t;
inline constexpr RecordIndex kNoRecord = ~RecordIndex{0};

struct BlockRecord {
    // As the user knows it, and as the upstream knows it.
    MemoryBlock block;
    MemoryBlock raw;
    std::size_t alignment = 0;
    // The higher, the later the block came to lie where it does.
    std::uint64_t number = 0;
    RecordState state = RecordState::gone;
    RecordIndex next_in_bucket = kNoRecord;
    // Neighbours in the one list that the record is in, if any.
    RecordIndex older = kNoRecord;
    RecordIndex newer = kNoRecord;
    CallSites allocated_at;
    CallSites freed_at;
};

// What is known of every block, found by address, in memory of its own: nothing that is written beside or
// into a block can change what a report says. Not safe for threads; its user locks.
class BlockLedger {
public:
    [[nodiscard]] static Expected<BlockLedger> create(std::uint32_t max_records) noexcept;

    // The newest record of a block that starts there; null when there is none.
    [[nodiscard]] BlockRecord* find(const void* address) noexcept;
    // A record whose block or surroundings hold the address, live ones first; slow, for reports.
    [[nodiscard]] BlockRecord* find_around(const void* address) noexcept;

    // A live record of the block, in place of a remembered one at the same address. Null when there are too
    // many, or no memory for one more.
    [[nodiscard]] BlockRecord* add(MemoryBlock block) noexcept;
    // The record's block starts elsewhere now.
    void move(BlockRecord& record, MemoryBlock block) noexcept;

    // Lists by age: the quarantine, and the blocks that are gone.
    void put_in_quarantine(BlockRecord& record) noexcept;
    // The oldest, in state `changing`; null when there is none.
    [[nodiscard]] BlockRecord* take_from_quarantine() noexcept;
    void retire(BlockRecord& record) noexcept;

    [[nodiscard]] RecordIndex record_count() const noexcept { return used_; }
    [[nodiscard]] BlockRecord& at(RecordIndex index) noexcept { return records()[index]; }
    [[nodiscard]] std::uint32_t quarantined() const noexcept { return quarantine_.count; }
    [[nodiscard]] std::size_t committed_bytes() const noexcept;
    // Every record is found where it should be.
    [[nodiscard]] Status check() noexcept;

private:
    struct List {
        RecordIndex oldest = kNoRecord;
        RecordIndex newest = kNoRecord;
        std::uint32_t count = 0;
    };

    [[nodiscard]] BlockRecord* records() const noexcept {
        return reinterpret_cast<BlockRecord*>(record_memory_.block().data);
    }
    [[nodiscard]] RecordIndex index_of(const BlockRecord& record) const noexcept {
        return static_cast<RecordIndex>(&record - records());
    }
    [[nodiscard]] RecordIndex& bucket_of(const void* address) const noexcept;
    [[nodiscard]] BlockRecord* fresh_record() noexcept;
    void link(BlockRecord& record) noexcept;
    void unlink(BlockRecord& record) noexcept;
    void append(List& list, BlockRecord& record) noexcept;
    void remove(List& list, BlockRecord& record) noexcept;

    os::Reservation record_memory_;
    os::Reservation bucket_memory_;
    std::size_t committed_records_ = 0;
    std::uint32_t max_records_ = 0;
    unsigned bucket_bits_ = 0;
    RecordIndex used_ = 0;
    List quarantine_;
    List gone_;
};

}  // namespace ouro
