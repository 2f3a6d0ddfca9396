#include "history_packer.hpp"

#include <algorithm>
#include <utility>

namespace ouro::detail {
namespace {

constexpr std::size_t kOld = 0;
constexpr std::size_t kThin = 1;
// A difference of more is tried as a page of its own.
constexpr std::size_t kLargeDifference = kStatePageBytes / 2;
constexpr std::uint64_t kFewestResults = 256;
constexpr std::uint64_t kMostResults = 32768;
constexpr std::size_t kBuffers = 5;

}  // namespace

void HistoryPacker::carve(Carver& carver, std::uint32_t pages, bool thins) noexcept {
    // A group is thinned out in one go, beside what else there is to pack.
    const std::uint64_t room =
        std::clamp<std::uint64_t>(pages, kFewestResults, kMostResults) + (thins ? pages : 0);
    results_ = carver.take<Result>(room);
    spare_room_ = carver.take<std::uint32_t>(room);
    runs_[kOld] = carver.take<std::uint8_t>(pages);
    runs_[kThin] = carver.take<std::uint8_t>(thins ? pages : 0);
    group_marks_ = carver.take<std::uint8_t>(thins ? pages : 0);
    group_pages_ = carver.take<std::uint32_t>(thins ? pages : 0);
    buffers_ = carver.take<std::byte>(kBuffers * kStatePageBytes);
}

void HistoryPacker::begin() noexcept {
    tick_count_ = 0;
    group_count_ = 0;
    asked_pages_ = 0;
    result_count_ = 0;
    packed_count_ = 0;
    group_page_count_ = 0;
    has_thinned_ = false;
    is_cancelled_.store(false, std::memory_order_relaxed);
}

bool HistoryPacker::ask_pack(std::uint32_t tick, std::span<const std::uint32_t> pages,
                             std::uint32_t first) noexcept {
    const std::size_t room = results_.size() - group_pages_.size();
    if (tick_count_ == kMaxTicks || asked_pages_ >= room) return false;
    if (tick_count_ == 0) {
        next_tick_ = tick;
        next_page_ = first;
    }
    ticks_[tick_count_++] = {.tick = tick, .pages = pages};
    asked_pages_ += pages.size() - std::min<std::size_t>(pages.size(), first);
    return true;
}

void HistoryPacker::ask_thin(std::uint32_t kept, std::uint32_t last) noexcept {
    kept_ = kept;
    last_ = last;
}

void HistoryPacker::give_spare(std::span<const std::uint32_t> slots) noexcept {
    std::ranges::copy(slots, spare_room_.begin());
    spare_ = {.slots = spare_room_.first(slots.size()), .taken = 0};
}

void HistoryPacker::work() noexcept {
    if (tick_count_ != 0) pack_ticks();
    packed_count_ = result_count_;
    if (group_count_ != 0 && !is_stopped()) thin_group();
}

void HistoryPacker::pack_ticks() noexcept {
    for (const TickPages& tick : std::span(ticks_).first(tick_count_)) {
        next_tick_ = tick.tick;
        for (; next_page_ < tick.pages.size(); ++next_page_)
            if (is_stopped() || !pack_page(tick.pages[next_page_], tick.tick)) return;
        next_page_ = 0;
    }
    ++next_tick_;
}

// The thread that commits may add and compact meanwhile.
VersionIndex::Located HistoryPacker::locate(std::uint32_t page, std::uint32_t tick) const noexcept {
    for (;;) {
        const std::uint32_t state = from_.index->state();
        const VersionIndex::Located found = from_.index->locate(page, tick);
        if (from_.index->is_unchanged(state)) return found;
    }
}

void HistoryPacker::read(std::uint32_t page, std::uint32_t word, std::byte* out) const noexcept {
    const bool is_sound = read_version(*from_.slots, *from_.packed, word, out,
                                       [&](std::uint32_t tick) { return locate(page, tick).version.slot; });
    OURO_ASSERT(is_sound, "a packed version of a page is damaged");
}

// Whether commits may yet make a record of lines of it, and of those behind it, each the base of the one
// before.
bool HistoryPacker::becomes_lines(std::uint32_t page, Version version) const noexcept {
    const bool is_fine = !from_.line_runs.empty() && from_.line_runs[page] != kNotFine;
    return is_fine && from_.index->newest_tick(page) == version.tick;
}

// The version that the tick replaced, as its difference to the one it was replaced by. What is read stays as
// it is. False when there is no room.
bool HistoryPacker::pack_page(std::uint32_t page, std::uint32_t tick) noexcept {
    const VersionIndex::Located old = locate(page, tick - 1);
    const std::uint32_t slot = old.version.slot;
    if (old.slot == nullptr || slot == 0 || is_packed(slot)) return true;
    const Version next = locate(page, tick).version;
    OURO_ASSERT(next.tick == tick && old.until == tick, "a tick's list of changes is wrong");
    const bool is_read =
        from_.leases->is_any_held() && from_.leases->any_of(0, [&](LeaseTable::Lease lease, std::uint8_t) {
            return lease.tick >= old.version.tick && lease.tick < tick;
        });
    if (is_read) return true;
    std::uint8_t& run = runs_[kOld][page];
    // Nor against one that is packed itself, or will be as lines, or chains would grow together.
    const bool stands_alone = is_packed(next.slot) || becomes_lines(page, next) || run + 1U >= kChainLength;
    const std::byte* base = stands_alone ? nullptr : from_.slots->page(next.slot);
    Encoded encoded = encode(page, from_.slots->page(slot), base, tick, stands_alone);
    encoded.record.hash = from_.has_hashes ? from_.slots->hash(slot) : 0;
    return put(old, encoded, ends_[kOld], run);
}

bool HistoryPacker::put(const VersionIndex::Located& version, Encoded encoded, PackedStore::End& end,
                        std::uint8_t& run) noexcept {
    const std::uint32_t word = from_.packed->append(*from_.slots, end, spare_, encoded.record, encoded.bytes);
    if (word == 0) return false;
    const bool stands_alone = encoded.record.base_tick == PackedRecord::kNoBase;
    run = static_cast<std::uint8_t>(stands_alone ? 0 : run + 1);
    results_[result_count_++] = {.place = version.slot,
                                 .page = encoded.page,
                                 .from = version.version.tick,
                                 .until = version.until,
                                 .old_word = version.version.slot,
                                 .new_word = word};
    return true;
}

HistoryPacker::Encoded HistoryPacker::encode(std::uint32_t page, const std::byte* bytes,
                                             const std::byte* base, std::uint32_t base_tick,
                                             bool stands_alone) noexcept {
    std::byte* packed = buffer(0);
    std::byte* other = buffer(1);
    std::size_t size = pack_difference(bytes, stands_alone ? nullptr : base, packed);
    if (!stands_alone && size > kLargeDifference) {
        const std::size_t alone = pack_difference(bytes, nullptr, other);
        if (alone < size) {
            stands_alone = true;
            size = alone;
            std::swap(packed, other);
        }
    }
    Encoded encoded{.page = page,
                    .record = {.hash = 0,
                               .base_tick = stands_alone ? PackedRecord::kNoBase : base_tick,
                               .bytes = static_cast<std::uint16_t>(size),
                               .packed_bytes = static_cast<std::uint16_t>(size)},
                    .bytes = packed};
    if (const std::size_t squeezed = squeeze({packed, size}, buffer(2)); squeezed != 0) {
        encoded.record.bytes = static_cast<std::uint16_t>(squeezed);
        encoded.bytes = buffer(2);
    }
    return encoded;
}

// The pages of all ticks of the group, each once, in order.
void HistoryPacker::list_group() noexcept {
    for (const TickPages& tick : std::span(group_).first(group_count_))
        for (const std::uint32_t page : tick.pages)
            group_marks_[page] = 1;
    for (std::uint32_t page = 0; page < group_marks_.size(); ++page)
        if (std::exchange(group_marks_[page], std::uint8_t{0}) != 0) group_pages_[group_page_count_++] = page;
}

void HistoryPacker::thin_group() noexcept {
    list_group();
    for (const std::uint32_t page : group_pages())
        if (is_stopped() || !thin_page(page)) return;
    has_thinned_ = true;
}

// What the page was at the last kept tick, as its difference to what it is at the next one. Written anew even
// if nothing was between them, so that the slots it was in are free for whole.
bool HistoryPacker::thin_page(std::uint32_t page) noexcept {
    const VersionIndex::Located old = locate(page, kept_);
    if (old.slot == nullptr || !is_packed(old.version.slot)) return true;
    const Version next = locate(page, last_).version;
    const PackedRecord record = PackedStore::record(*from_.slots, old.version.slot);
    read(page, old.version.slot, buffer(3));
    read(page, next.slot, buffer(4));
    std::uint8_t& run = runs_[kThin][page];
    Encoded encoded = encode(page, buffer(3), buffer(4), next.tick, run + 1U >= kChainLength);
    encoded.record.hash = record.hash;
    return put(old, encoded, ends_[kThin], run);
}

void HistoryPacker::discard_thinned() noexcept {
    for (const Result& each : results_.subspan(packed_count_, result_count_ - packed_count_))
        runs_[kThin][each.page] = kChainLength;
}

void HistoryPacker::hold_new() noexcept {
    for (const std::uint32_t slot : spare_.slots.first(spare_.taken))
        from_.packed->hold_slot(slot);
}

void HistoryPacker::finish(SlotStore& slots) noexcept {
    PackedStore& packed = *from_.packed;
    for (std::size_t index = 0; index < open_.size(); ++index) {
        if (ends_[index].slot != open_[index].slot) {
            packed.hold_slot(ends_[index].slot);
            if (open_[index].slot != 0) packed.release_slot(slots, open_[index].slot);
        }
        open_[index] = ends_[index];
    }
    // Held until here, so that a slot whose records are gone already is given back once.
    for (const std::uint32_t slot : spare_.slots.first(spare_.taken))
        packed.release_slot(slots, slot);
    slots.give_all(spare_.slots.subspan(spare_.taken));
    spare_ = {};
    is_under_way_ = false;
}

void HistoryPacker::restart(std::uint32_t page) noexcept {
    for (const std::span<std::uint8_t> runs : runs_)
        if (!runs.empty()) runs[page] = kChainLength;
}

}  // namespace ouro::detail
