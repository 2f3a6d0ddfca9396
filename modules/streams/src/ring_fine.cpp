#include "page_copy.hpp"
#include "ring_core.hpp"
#include "version_reader.hpp"

#include <array>
#include <bit>
#include <cstring>

// Commits of fine segments: where few lines of a page were written, its newest version is brought up to date
// in place, and what it was before becomes a record of the difference. All else is as for pages.
namespace ouro::detail {
namespace {

// With more it is as quick to keep the page.
constexpr int kMostLines = 16;
// So many pages before it is their turn, what is known of them is fetched.
constexpr std::size_t kAhead = 6;

}  // namespace

// The pages that are captured whole, into `whole_pages_`; of the others the lines are noted.
std::uint32_t RingCore::sort_out_fine(std::span<const std::uint32_t> pages) noexcept {
    std::uint32_t whole = 0;
    for (std::size_t at = 0; at < pages.size(); ++at) {
        if (at + kAhead < pages.size()) {
            marks_.prefetch_lines(pages[at + kAhead]);
            index_.prefetch_page(pages[at + kAhead]);
        }
        const std::uint32_t page = pages[at];
        std::uint8_t& run = line_runs_[page];
        lines_[at] = 0;
        if (run != kNotFine) {
            const std::uint64_t lines = marks_.take_lines(page);
            const bool is_small = lines != 0 && std::popcount(lines) <= kMostLines;
            const bool is_fine = is_small && run < kChainLength && index_.newest_slot(page) != 0;
            run = is_fine ? static_cast<std::uint8_t>(run + 1) : std::uint8_t{0};
            if (is_fine) lines_[at] = lines;
        }
        if (lines_[at] == 0) whole_pages_[whole++] = page;
    }
    return whole;
}

// No version is changed in place that anybody reads: with the gate closed nobody begins to, and who began
// before has a lease, or is seen to look at it while an older one is unpacked.
void RingCore::commit_fine(std::span<const std::uint32_t> pages) noexcept {
    const std::uint32_t whole = sort_out_fine(pages);
    const auto slots = slots_.take(whole);
    TickHashes hashes = capture_only(whole_pages_.first(whole), slots);
    for (std::size_t at = 0, taken = 0; taken < whole; ++at)
        if (lines_[at] == 0) line_slots_[at] = slots[taken++];
    close_gate();
    if (whole != pages.size()) {
        const TickHashes more = capture_lines(pages);
        hashes.portable += more.portable;
        hashes.process_bound += more.process_bound;
    }
    publish(pages, line_slots_.first(pages.size()), hashes);
    // What this tick replaced may be lines. Less again only when what is gone back to is whole: not as soon
    // as it is the newest.
    packed_before_.store(newest() + 1, std::memory_order_seq_cst);
    open_gate();
}

TickHashes RingCore::capture_lines(std::span<const std::uint32_t> pages) noexcept {
    TickHashes change;
    const bool is_any_held = leases_.is_any_held();
    const SlotReaders::LookedAt looked_at = readers_.looked_at();
    for (std::size_t at = 0; at < pages.size(); ++at) {
        prefetch_lines(pages, at);
        if (lines_[at] == 0) continue;
        const std::uint32_t page = pages[at];
        const Version old = index_.newest(page);
        const std::uint64_t old_hash = slots_.hash(old.slot);
        const bool is_read = is_any_held && leases_.any_of(0, [&](LeaseTable::Lease lease, std::uint8_t) {
            return lease.tick >= old.tick;
        });
        const bool stays = is_read || looked_at.has(old.slot);
        const std::byte* bytes = live(page);
        if (stays) {
            line_runs_[page] = 0;
            line_slots_[at] = slots_.take(1)[0];
            store_page(slots_.page(line_slots_[at]), bytes);
        } else {
            line_slots_[at] = keep_lines(page, old, lines_[at]);
            // Without what nobody declared.
            bytes = slots_.page(line_slots_[at]);
        }
        if (hashes_) rehash(page, bytes, old_hash, line_slots_[at], change);
    }
    finish_stores();
    return change;
}

void RingCore::prefetch_lines(std::span<const std::uint32_t> pages, std::size_t at) const noexcept {
    if (at + 2 * kAhead < pages.size()) index_.prefetch_block(pages[at + 2 * kAhead]);
    if (at + kAhead >= pages.size() || lines_[at + kAhead] == 0) return;
    const std::uint32_t page = pages[at + kAhead];
    const std::size_t first = static_cast<std::size_t>(std::countr_zero(lines_[at + kAhead]))
                              << kStateLineShift;
    __builtin_prefetch(live(page) + first);
    __builtin_prefetch(slots_.page(index_.newest_slot(page)) + first, 1);
}

// The slot, which holds the newest version as before.
std::uint32_t RingCore::keep_lines(std::uint32_t page, Version old, std::uint64_t lines) noexcept {
    alignas(64) std::array<std::byte, kMaxPackedBytes> packed;
    std::byte* kept = slots_.page(old.slot);
    const std::byte* written = live(page);
    const auto bytes = static_cast<std::uint16_t>(pack_difference(kept, written, packed.data(), lines));
    const std::uint32_t word = put_line_record(
        {.hash = slots_.hash(old.slot), .base_tick = newest() + 1, .bytes = bytes, .packed_bytes = bytes},
        packed.data());
    for (; lines != 0; lines &= lines - 1) {
        const std::size_t at = static_cast<std::size_t>(std::countr_zero(lines)) << kStateLineShift;
        std::memcpy(kept + at, written + at, kStateLineBytes);
    }
    index_.hand_on_newest(page, word);
    return old.slot;
}

// A record goes into the last slot as far as there is room; one more is always enough.
std::uint32_t RingCore::put_line_record(const PackedRecord& record, const std::byte* bytes) noexcept {
    PackedStore::Spare spare;
    std::uint32_t word = packed_.append(slots_, line_end_, spare, record, bytes);
    if (word == 0) {
        const std::uint32_t last = line_end_.slot;
        spare.slots = slots_.take(1);
        word = packed_.append(slots_, line_end_, spare, record, bytes);
        OURO_ASSERT(word != 0, "a record of few lines has room in a slot");
        packed_.hold_slot(line_end_.slot);
        packed_.hold(slots_, word);
        if (last != 0) packed_.release_slot(slots_, last);
        return word;
    }
    packed_.hold(slots_, word);
    return word;
}

// After going back: nothing is marked, and the next version of these pages is a whole one.
void RingCore::forget_lines(std::span<const std::uint32_t> pages) noexcept {
    for (const std::uint32_t page : pages) {
        if (line_runs_[page] == kNotFine) continue;
        (void)marks_.take_lines(page);
        line_runs_[page] = kChainLength;
    }
}

}  // namespace ouro::detail
