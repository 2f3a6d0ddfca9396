#include "event_rows.hpp"
#include "fork_safety.hpp"

#include <ouro/observe/detail/observe_image.hpp>
#include <ouro/observe/events.hpp>
#include <ouro/os/clock.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>

namespace ouro {
namespace {

using detail::EventRing;
using detail::EventSlot;
using detail::kEventSlots;

// The binary digits of the count before its last one.
std::uint64_t digits_of(std::uint64_t count) noexcept {
    return static_cast<std::uint64_t>(std::bit_width(std::max<std::uint64_t>(count, 1)) - 1);
}

std::uint64_t pack_kinds(const ObserveEvent& event) noexcept {
    return static_cast<std::uint64_t>(event.kind) | static_cast<std::uint64_t>(event.status) << 8 |
           std::uint64_t{event.level} << 16 | digits_of(event.count) << 24 |
           std::uint64_t{event.tag.id()} << 32;
}

void unpack_kinds(std::uint64_t word, ObserveEvent& event) noexcept {
    event.kind = static_cast<ObserveEventKind>(word & 0xff);
    event.status = static_cast<Status>(word >> 8 & 0xff);
    event.level = static_cast<std::uint8_t>(word >> 16 & 0xff);
    event.count = std::uint64_t{1} << (word >> 24 & 0x3f);
    event.tag = Tag::from_id(static_cast<std::uint16_t>(word >> 32));
}

// So many events later, one that is not there is taken for lost.
constexpr std::uint64_t kPatienceInEvents = 64;

// What a slot's sequence is once it holds the event of this number; odd while it is written.
std::uint64_t sequence_of(std::uint64_t number) noexcept {
    return 2 * number + 2;
}

// False when the slot holds another event, or is being written.
bool read_slot(const EventSlot& slot, std::uint64_t number, ObserveEvent& event) noexcept {
    if (slot.sequence.load(std::memory_order_acquire) != sequence_of(number)) return false;
    // Each load is an acquire: having seen a word of a later event, it sees the later sequence as well.
    const auto load = [&](std::size_t word) noexcept {
        return slot.words[word].load(std::memory_order_acquire);
    };
    event.number = number;
    event.time_ns = load(0);
    unpack_kinds(load(1), event);
    event.bytes = load(2);
    event.limit_bytes = load(3);
    return slot.sequence.load(std::memory_order_relaxed) == sequence_of(number);
}

// Events that follow one another, by tag and kind: when the last was, in coarse units, and below how many.
enum Row : std::size_t { kRefusedByBudget, kRefusedByRate, kPressureChanged, kPressureHandled, kRows };
constinit std::array<std::array<std::atomic<std::uint64_t>, kRows>, kMaxTags> g_rows{};

// None for what comes seldom.
Row row_of(const ObserveEvent& event) noexcept {
    switch (event.kind) {
        case ObserveEventKind::request_refused:
            return event.status == Status::budget_exceeded ? kRefusedByBudget : kRefusedByRate;
        case ObserveEventKind::pressure_changed:
            return kPressureChanged;
        case ObserveEventKind::pressure_handled:
            return kPressureHandled;
        default:
            return kRows;
    }
}

// How many there were in a row, this one included.
std::uint64_t count_in_row(std::atomic<std::uint64_t>& word, std::uint64_t now_ns) noexcept {
    constexpr unsigned kUnitBits = 20;
    constexpr std::uint64_t kLongestGap = 1'000'000'000 >> kUnitBits;
    constexpr std::uint64_t kCountMask = 0xffff'ffff;
    const std::uint64_t now = now_ns >> kUnitBits & kCountMask;
    std::uint64_t seen = word.load(std::memory_order_relaxed);
    for (;;) {
        const std::uint64_t gap = (now - (seen >> 32)) & kCountMask;
        const std::uint64_t before = gap <= kLongestGap ? seen & kCountMask : 0;
        const std::uint64_t count = std::min(before + 1, kCountMask);
        if (word.compare_exchange_weak(seen, now << 32 | count, std::memory_order_relaxed)) return count;
    }
}

// A program that runs against its budget may be refused a million times a second, or go in and out of
// pressure: told one by one, that would push everything else out of the ring. False for what is not told.
bool count_and_choose(ObserveEvent& event, std::uint64_t now_ns) noexcept {
    constexpr std::uint64_t kFirstOfPressure = 16;
    const Row row = row_of(event);
    if (row == kRows) return true;
    const std::uint64_t count = count_in_row(g_rows[event.tag.id() % kMaxTags][row], now_ns);
    const bool is_early = row >= kPressureChanged && count <= kFirstOfPressure;
    event.count = is_early ? 1 : count;
    return is_early || std::has_single_bit(count);
}

}  // namespace

std::string_view observe_event_kind_name(ObserveEventKind kind) noexcept {
    switch (kind) {
        case ObserveEventKind::soft_budget_passed:
            return "soft_budget_passed";
        case ObserveEventKind::request_refused:
            return "request_refused";
        case ObserveEventKind::pressure_changed:
            return "pressure_changed";
        case ObserveEventKind::pressure_handled:
            return "pressure_handled";
        case ObserveEventKind::new_peak:
            return "new_peak";
        case ObserveEventKind::spike:
            return "spike";
    }
    return "unknown";
}

void detail::begin_refusals_anew(Tag top) noexcept {
    const std::size_t tags = tag_count();
    for (std::size_t id = top.id(); id < tags; ++id) {
        if (!is_tag_within(Tag::from_id(static_cast<std::uint16_t>(id)), top)) continue;
        for (const Row row : {kRefusedByBudget, kRefusedByRate})
            g_rows[id][row].store(0, std::memory_order_relaxed);
    }
}

// Slots that other threads were just writing would stay theirs for ever.
void detail::repair_events_in_child() noexcept {
    ObserveImage* const image = known_image();
    if (image == nullptr) return;
    for (EventSlot& slot : image->events.slots) {
        const std::uint64_t sequence = slot.sequence.load(std::memory_order_relaxed);
        if (sequence % 2 != 0) slot.sequence.store(sequence - 1, std::memory_order_relaxed);
    }
}

void post_event(const ObserveEvent& posted) noexcept {
    detail::ObserveImage* const image = detail::observe_image();
    if (image == nullptr) return;
    const std::uint64_t now_ns = os::monotonic_ns();
    ObserveEvent event = posted;
    if (!count_and_choose(event, now_ns)) return;
    EventRing& ring = image->events;
    const std::uint64_t number = ring.next.fetch_add(1, std::memory_order_relaxed);
    EventSlot& slot = ring.slots[number % kEventSlots];
    // Whoever is still at the slot, a whole round behind, keeps it: this event is lost then.
    std::uint64_t before = slot.sequence.load(std::memory_order_relaxed);
    const bool is_free = before % 2 == 0 && before < sequence_of(number);
    if (!is_free ||
        !slot.sequence.compare_exchange_strong(before, sequence_of(number) - 1, std::memory_order_acq_rel))
        return;
    slot.words[0].store(now_ns, std::memory_order_release);
    slot.words[1].store(pack_kinds(event), std::memory_order_release);
    slot.words[2].store(event.bytes, std::memory_order_release);
    slot.words[3].store(event.limit_bytes, std::memory_order_release);
    slot.sequence.store(sequence_of(number), std::memory_order_release);
}

EventsRead read_events(std::uint64_t& cursor, std::span<ObserveEvent> events) noexcept {
    EventsRead read;
    detail::ObserveImage* const image = detail::observe_image();
    if (image == nullptr) return read;
    const EventRing& ring = image->events;
    const std::uint64_t next = ring.next.load(std::memory_order_acquire);
    const std::uint64_t oldest = next > kEventSlots ? next - kEventSlots : 0;
    if (cursor < oldest) {
        read.lost += oldest - cursor;
        cursor = oldest;
    }
    for (; cursor < next && read.count < events.size(); ++cursor) {
        const EventSlot& slot = ring.slots[cursor % kEventSlots];
        if (read_slot(slot, cursor, events[read.count])) {
            ++read.count;
        } else if (slot.sequence.load(std::memory_order_acquire) < sequence_of(cursor) &&
                   next - cursor <= kPatienceInEvents) {
            // Its writer is at it: next time.
            break;
        } else {
            ++read.lost;
        }
    }
    return read;
}

std::uint64_t event_count() noexcept {
    detail::ObserveImage* const image = detail::observe_image();
    return image == nullptr ? 0 : image->events.next.load(std::memory_order_acquire);
}

}  // namespace ouro
