#include "pressure_locks.hpp"
#include "pressure_log_writer.hpp"

#include <ouro/observe/detail/observe_image.hpp>

#include <cstring>

namespace ouro {
namespace {

using detail::kHandlerNameWords;
using detail::kPressureSlots;
using detail::PressureRing;
using detail::PressureSlot;

std::uint64_t pack_kinds(const PressureRecord& record) noexcept {
    return static_cast<std::uint64_t>(record.level) | static_cast<std::uint64_t>(record.source) << 8 |
           std::uint64_t{record.tag.id()} << 16;
}

void write_words(PressureSlot& slot, const PressureRecord& record) noexcept {
    const std::uint64_t numbers[PressureSlot::kNumbers] = {
        record.time_ns,        record.duration_ns,  pack_kinds(record), record.wanted_bytes,
        record.reported_bytes, record.ledger_bytes, record.used_bytes};
    for (std::size_t i = 0; i < PressureSlot::kNumbers; ++i)
        slot.numbers[i].store(numbers[i], std::memory_order_release);
    std::uint64_t name[kHandlerNameWords];
    static_assert(sizeof name == sizeof record.name_text);
    std::memcpy(name, record.name_text.data(), sizeof name);
    for (std::size_t i = 0; i < kHandlerNameWords; ++i)
        slot.name[i].store(name[i], std::memory_order_release);
}

// False when the slot holds another record, or is being written. Each load is ordered before the last look.
bool read_slot(const PressureSlot& slot, std::uint64_t number, PressureRecord& record) noexcept {
    if (slot.sequence.load(std::memory_order_acquire) != number + 1) return false;
    std::uint64_t numbers[PressureSlot::kNumbers];
    for (std::size_t i = 0; i < PressureSlot::kNumbers; ++i)
        numbers[i] = slot.numbers[i].load(std::memory_order_acquire);
    std::uint64_t name[kHandlerNameWords];
    for (std::size_t i = 0; i < kHandlerNameWords; ++i)
        name[i] = slot.name[i].load(std::memory_order_acquire);
    if (slot.sequence.load(std::memory_order_relaxed) != number + 1) return false;
    record = {.number = number,
              .time_ns = numbers[0],
              .duration_ns = numbers[1],
              .tag = Tag::from_id(static_cast<std::uint16_t>(numbers[2] >> 16)),
              .level = static_cast<PressureLevel>(numbers[2] & 0xff),
              .source = static_cast<PressureSource>(numbers[2] >> 8 & 0xff),
              .wanted_bytes = numbers[3],
              .reported_bytes = numbers[4],
              .ledger_bytes = numbers[5],
              .used_bytes = numbers[6]};
    std::memcpy(record.name_text.data(), name, sizeof name);
    return true;
}

}  // namespace

void detail::add_to_pressure_log(const PressureRecord& record) noexcept {
    ObserveImage* const image = observe_image();
    if (image == nullptr) return;
    PressureRing& ring = image->pressure.log;
    const WordLockScope scope(g_pressure_log_lock);
    const std::uint64_t number = ring.next.load(std::memory_order_relaxed);
    PressureSlot& slot = ring.slots[number % kPressureSlots];
    slot.sequence.store(0, std::memory_order_relaxed);
    write_words(slot, record);
    slot.sequence.store(number + 1, std::memory_order_release);
    ring.next.store(number + 1, std::memory_order_release);
}

PressureLogRead read_pressure_log(std::uint64_t& cursor, std::span<PressureRecord> records) noexcept {
    PressureLogRead read;
    detail::ObserveImage* const image = detail::observe_image();
    if (image == nullptr) return read;
    const PressureRing& ring = image->pressure.log;
    const std::uint64_t next = ring.next.load(std::memory_order_acquire);
    const std::uint64_t oldest = next > kPressureSlots ? next - kPressureSlots : 0;
    if (cursor < oldest) {
        read.lost += oldest - cursor;
        cursor = oldest;
    }
    for (; cursor < next && read.count < records.size(); ++cursor) {
        if (read_slot(ring.slots[cursor % kPressureSlots], cursor, records[read.count])) {
            ++read.count;
        } else {
            ++read.lost;
        }
    }
    return read;
}

std::uint64_t pressure_log_count() noexcept {
    detail::ObserveImage* const image = detail::observe_image();
    return image == nullptr ? 0 : image->pressure.log.next.load(std::memory_order_acquire);
}

}  // namespace ouro
