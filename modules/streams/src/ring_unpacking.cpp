#include "page_copy.hpp"
#include "ring_core.hpp"
#include "ring_pause.hpp"
#include "version_reader.hpp"

#include <ouro/os/give_way.hpp>

#include <bit>

// Reading what is packed.
namespace ouro::detail {

// Where bytes were ever masked, the hash may be of others.
bool RingCore::is_record_of(std::uint32_t page, const PackedRecord& record,
                            const std::byte* bytes) const noexcept {
    return !hashes_ || masks_.was_used() || record.hash == hash_page(bytes, page);
}

// Whatever a packed version of a future was packed against belongs to the same future.
std::uint32_t RingCore::find_base(std::uint8_t future, std::uint32_t page,
                                  std::uint32_t tick) const noexcept {
    if (future == 0) return index_.find(page, tick).slot;
    const std::uint32_t base = futures_.find(future, page, tick);
    return base == FutureStore::kNone ? 0 : base;
}

// On the thread that commits, or while it waits.
void RingCore::read_packed(std::uint32_t page, std::uint32_t word, std::byte* out,
                           std::uint8_t future) const noexcept {
    const bool is_sound = read_version(slots_, packed_, word, out,
                                       [&](std::uint32_t tick) { return find_base(future, page, tick); });
    OURO_ASSERT(is_sound, "a packed version of a page is damaged");
    OURO_EXPENSIVE_ASSERT(is_record_of(page, PackedStore::record(slots_, word), out),
                          "a packed version is of another page");
}

// On any thread. Each slot is looked at only when the turn is found to be the same after everybody could know
// of it: it stays as it is then, and so did the way to it.
bool RingCore::read_packed_beside(std::uint32_t page, std::uint32_t word, const Unpacker& reader,
                                  std::byte* out) noexcept {
    bool is_there = true;
    const auto base_of = [&](std::uint32_t tick) -> std::uint32_t {
        const std::uint32_t state = index_.state();
        const std::uint32_t base = find_base(reader.future, page, tick);
        is_there = is_there && index_.is_unchanged(state);
        return is_there ? base : 0;
    };
    const auto may_look = [&](std::uint32_t slot) {
        readers_.look_at(reader.number, slot);
        is_there = is_there && gate_.is_same_turn(reader.turn);
        if (is_there) pause_read(ReadPause::slot_looked_at, slots_.page(slot));
        return is_there;
    };
    PackedRecord last;
    const auto note_last = [&](const PackedRecord& record, const std::byte*) {
        last = record;
        return true;
    };
    const bool is_sound = read_version(slots_, packed_, word, out, base_of, note_last, may_look);
    if (!is_there) return false;
    OURO_ASSERT(is_sound, "a packed version of a page is damaged");
    OURO_EXPENSIVE_ASSERT(is_record_of(page, last, out), "a packed version is of another page");
    return true;
}

// Where the history changes quicker than a page is unpacked, the thread that changes it is asked for the
// page.
const std::byte* RingCore::unpack_at(std::uint32_t page, std::uint32_t cell) noexcept {
    constexpr unsigned kTriesAlone = 4;
    unsigned tries = 0;
    for (os::GiveWay way;; way.once()) {
        const std::byte* bytes = try_unpack(page, cell);
        std::uint32_t wanted = tries < kTriesAlone ? 0 : page + 1;
        if (bytes != nullptr) {
            if (wanted != 0) wanted_[cell].compare_exchange_strong(wanted, 0, std::memory_order_relaxed);
            return bytes;
        }
        if (++tries < kTriesAlone) continue;
        std::uint32_t nothing = 0;
        wanted_[cell].compare_exchange_strong(nothing, page + 1, std::memory_order_relaxed);
        is_any_wanted_.store(true, std::memory_order_release);
    }
}

const std::byte* RingCore::unpack_beside(std::uint32_t page, std::uint32_t word, std::uint32_t cell,
                                         const Unpacker& reader) noexcept {
    const std::uint32_t place = unpacked_.take();
    OURO_ASSERT(place != 0, "there is a place for everybody who unpacks");
    if (read_packed_beside(page, word, reader, unpacked_.bytes(place))) {
        pause_read(ReadPause::page_unpacked);
        return unpacked_.add(cell, page, place);
    }
    unpacked_.give(place);
    return nullptr;
}

// Looked for once more, for things may have moved since. Null when they do just now, or so many others unpack
// that there is no place.
const std::byte* RingCore::try_unpack(std::uint32_t page, std::uint32_t cell) noexcept {
    const std::uint32_t turn = gate_.wait_until_open();
    if (const std::byte* bytes = unpacked_.find(cell, page); bytes != nullptr) return bytes;
    const std::uint32_t state = index_.state();
    const LeaseTable::Lease lease = leases_.lease(cell);
    const std::uint32_t word = find_slot(page, lease);
    if (!index_.is_unchanged(state)) return nullptr;
    if (!is_packed(word)) return gate_.is_same_turn(turn) ? whole_page(word) : nullptr;
    const std::uint32_t number = readers_.enter();
    if (number == SlotReaders::kMost) return nullptr;
    const std::byte* bytes = unpack_beside(page, word, cell, {number, turn, lease.future});
    readers_.leave(number);
    return bytes;
}

// Once for each commit: so a reader has its page with the next one at the latest.
void RingCore::serve_readers() noexcept {
    if (!is_any_wanted_.load(std::memory_order_relaxed)) return;
    is_any_wanted_.exchange(false, std::memory_order_acquire);
    for (std::uint32_t cell = 0; cell < LeaseTable::kReaderCells; ++cell) {
        const std::uint32_t wanted = wanted_[cell].exchange(0, std::memory_order_acquire);
        if (wanted == 0 || !leases_.hold(cell)) continue;
        // It may be another's by now, who has no pages set aside, or is about to find that the tick is gone.
        if (leases_.lease(cell).is_settled && leases_.is_set_aside(cell)) unpack_for(cell, wanted - 1);
        end_view(cell);
    }
}

void RingCore::unpack_for(std::uint32_t cell, std::uint32_t page) noexcept {
    const LeaseTable::Lease lease = leases_.lease(cell);
    if (unpacked_.find(cell, page) != nullptr) return;
    const std::uint32_t word = find_slot(page, lease);
    if (!is_packed(word)) return;
    const std::uint32_t place = unpacked_.take();
    OURO_ASSERT(place != 0, "readers unpack more than was set aside for them");
    read_packed(page, word, unpacked_.bytes(place), lease.future);
    unpacked_.add(cell, page, place);
}

// With the gate closed. Who has nothing set aside reads nothing packed, or is about to take a view and will
// find that the tick is gone.
void RingCore::unpack_for_readers(std::uint32_t page, Version version, std::uint32_t until) noexcept {
    for (std::uint32_t cells = held_cells_; cells != 0; cells &= cells - 1) {
        const auto cell = static_cast<std::uint32_t>(std::countr_zero(cells));
        const LeaseTable::Lease lease = leases_.lease(cell);
        const bool reads =
            lease.future == 0 && lease.tick >= version.tick && (until == 0 || lease.tick < until);
        if (!reads || !leases_.is_set_aside(cell) || unpacked_.find(cell, page) != nullptr) continue;
        const std::uint32_t place = unpacked_.take();
        OURO_ASSERT(place != 0, "readers unpack more than was set aside for them");
        read_packed(page, version.slot, unpacked_.bytes(place));
        pause_read(ReadPause::unpacked_for_reader);
        unpacked_.add(cell, page, place);
    }
}

bool RingCore::is_same_version(std::uint32_t page, std::uint32_t one, std::uint32_t other) const noexcept {
    // Where nothing has to be unpacked it is as quick to look at the pages.
    if (!packs_) return false;
    for (os::GiveWay way;; way.once()) {
        const std::uint32_t state = index_.state();
        const LeaseTable::Lease first = leases_.lease(one);
        const LeaseTable::Lease second = leases_.lease(other);
        const Version before = index_.find(page, first.tick);
        const Version after = index_.find(page, second.tick);
        const bool is_same = first.future == 0 && second.future == 0 && before.tick == after.tick &&
                             (before.slot == 0) == (after.slot == 0);
        if (index_.is_unchanged(state)) return is_same;
    }
}

// The newest version of a page is never packed. The image has it already.
void RingCore::unpack_newest(std::span<const std::uint32_t> pages) noexcept {
    for (const std::uint32_t page : pages) {
        const std::uint32_t word = index_.newest_slot(page);
        if (!is_packed(word)) continue;
        while (slots_.free_count() == 0)
            free_slots();
        const std::uint32_t slot = slots_.take(1)[0];
        const std::byte* bytes = image_.alias().data + (std::size_t{page} << kStatePageShift);
        store_page(slots_.page(slot), bytes);
        finish_stores();
        if (hashes_) {
            // With the masks of its time, which may be others than those of now.
            const PackedRecord record = PackedStore::record(slots_, word);
            OURO_ASSERT(is_record_of(page, record, bytes), "a packed version of a page is damaged");
            slots_.set_hash(slot, record.hash);
        }
        index_.move_newest(page, slot);
        packed_.release(slots_, word);
    }
}

}  // namespace ouro::detail
