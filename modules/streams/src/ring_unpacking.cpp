#include "page_copy.hpp"
#include "ring_core.hpp"
#include "version_reader.hpp"

#include <ouro/os/give_way.hpp>

// Reading what is packed.
namespace ouro::detail {

// Where bytes were ever masked, the hash may be of others.
bool RingCore::is_record_of(std::uint32_t page, const PackedRecord& record,
                            const std::byte* bytes) const noexcept {
    return !hashes_ || masks_.was_used() || record.hash == hash_page(bytes, page);
}

// On the thread that commits, or while it waits.
void RingCore::read_packed(std::uint32_t page, std::uint32_t word, std::byte* out) const noexcept {
    const bool is_sound = read_version(slots_, packed_, word, out,
                                       [&](std::uint32_t tick) { return index_.find(page, tick).slot; });
    OURO_ASSERT(is_sound, "a packed version of a page is damaged");
    OURO_EXPENSIVE_ASSERT(is_record_of(page, PackedStore::record(slots_, word), out),
                          "a packed version is of another page");
}

// On any thread inside the gate. Whatever a packed version of a future was packed against belongs to the same
// future.
bool RingCore::read_packed_beside(std::uint32_t page, std::uint32_t word, std::uint8_t future,
                                  std::byte* out) const noexcept {
    bool is_unchanged = true;
    const auto find_base = [&](std::uint32_t tick) -> std::uint32_t {
        const std::uint32_t state = index_.state();
        const std::uint32_t base =
            future == 0 ? index_.find(page, tick).slot : futures_.find(future, page, tick);
        is_unchanged = index_.is_unchanged(state);
        return is_unchanged && base != FutureStore::kNone ? base : 0;
    };
    const bool is_sound = read_version(slots_, packed_, word, out, find_base);
    if (!is_unchanged) return false;
    OURO_ASSERT(is_sound, "a packed version of a page is damaged");
    OURO_EXPENSIVE_ASSERT(is_record_of(page, PackedStore::record(slots_, word), out),
                          "a packed version is of another page");
    return true;
}

// There are places for all pages that may be unpacked, and some for those who unpack the same: where more do
// so at once, the others wait until one is done. Whoever waits does so outside: who is inside is waited for
// by the thread that commits.
const std::byte* RingCore::unpack_at(std::uint32_t page, std::uint32_t cell) noexcept {
    for (os::GiveWay way;; way.once()) {
        gate_.enter();
        const std::byte* bytes = try_unpack(page, cell);
        gate_.leave();
        if (bytes != nullptr) return bytes;
    }
}

// Inside the gate. Looked for once more, for things may have moved before it. Null when there is no place,
// or the index is just being changed.
const std::byte* RingCore::try_unpack(std::uint32_t page, std::uint32_t cell) noexcept {
    if (const std::byte* bytes = unpacked_.find(cell, page); bytes != nullptr) return bytes;
    const std::uint32_t state = index_.state();
    const LeaseTable::Lease lease = leases_.lease(cell);
    const std::uint32_t word = find_slot(page, lease);
    if (!index_.is_unchanged(state)) return nullptr;
    if (!is_packed(word)) return whole_page(word);
    const std::uint32_t place = unpacked_.take();
    if (place == 0) return nullptr;
    if (read_packed_beside(page, word, lease.future, unpacked_.bytes(place)))
        return unpacked_.add(cell, page, place);
    unpacked_.give(place);
    return nullptr;
}

// With the gate closed, when nobody has a place but for a page that was added. Who has nothing set aside
// reads nothing packed, or is about to take a view and will find that the tick is gone.
void RingCore::unpack_for_readers(std::uint32_t page, Version version, std::uint32_t until) noexcept {
    for (std::uint32_t cell = 0; cell < LeaseTable::kReaderCells; ++cell) {
        const LeaseTable::Lease lease = leases_.lease(cell);
        const bool reads = lease.is_held && lease.future == 0 && lease.tick >= version.tick &&
                           (until == 0 || lease.tick < until);
        if (!reads || !leases_.is_set_aside(cell) || unpacked_.find(cell, page) != nullptr) continue;
        const std::uint32_t place = unpacked_.take();
        OURO_ASSERT(place != 0, "readers unpack more than was set aside for them");
        read_packed(page, version.slot, unpacked_.bytes(place));
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
            give_up_oldest();
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
