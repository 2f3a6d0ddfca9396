#include "guard_slots.hpp"

#include "guard_bytes.hpp"

#include <ouro/base/align.hpp>
#include <ouro/base/random.hpp>
#include <ouro/os/virtual_memory.hpp>

namespace ouro {

const std::byte* GuardSlot::damage() const noexcept {
    const std::byte* behind = guard_bytes::first_damage(bytes_behind());
    return behind != nullptr ? behind : guard_bytes::last_damage(bytes_in_front());
}

GuardSlot* SampledGuards::State::claim() noexcept {
    if (busy_slots.load(std::memory_order_relaxed) >= slot_count) return nullptr;
    for (std::uint32_t tries = 0; tries < slot_count; ++tries) {
        GuardSlot& slot = slots[next_slot.fetch_add(1, std::memory_order_relaxed) % slot_count];
        SlotState state = slot.state.load(std::memory_order_relaxed);
        const bool available = state == SlotState::unused || state == SlotState::freed;
        if (available &&
            slot.state.compare_exchange_strong(state, SlotState::changing, std::memory_order_acquire)) {
            busy_slots.fetch_add(1, std::memory_order_relaxed);
            return &slot;
        }
    }
    return nullptr;
}

Status SampledGuards::State::place(GuardSlot& slot, std::size_t size, std::size_t alignment) noexcept {
    const auto index = static_cast<std::size_t>(&slot - slots);
    const MemoryBlock whole = bytes_of(index);
    const std::size_t page = os::page_size();
    const bool in_front = side == GuardSide::in_front || (side == GuardSide::alternating && index % 2 == 1);
    const auto begin = reinterpret_cast<std::uintptr_t>(whole.data);
    const std::uintptr_t start =
        in_front ? align_up(begin, alignment) : align_down(begin + whole.size - size, alignment);
    if (start < begin || start + size > begin + whole.size) return Status::capacity_exhausted;
    const std::size_t offset = start - begin;
    const std::size_t first = in_front ? 0 : align_down(offset, page);
    const std::size_t end = in_front ? align_up(offset + size, page) : whole.size;
    const MemoryBlock committed = whole.sub(first, end - first);
    if (const auto done = os::commit(committed); !done) return done.status();
    slot.guard_in_front = in_front;
    slot.block = whole.sub(offset, size);
    slot.alignment = alignment;
    slot.committed = committed;
    return Status::ok;
}

std::uint32_t SampledGuards::State::draw_interval() noexcept {
    // Looked at again this much later: the rate may have changed.
    constexpr std::uint32_t kIdleInterval = 1U << 16;
    const std::uint32_t every = sample_every.load(std::memory_order_relaxed);
    if (every <= 1) return every == 1 ? 1 : kIdleInterval;
    // Between one and twice the mean: a pattern in the program must not meet a pattern of ours.
    const std::uint64_t count = intervals.fetch_add(1, std::memory_order_relaxed);
    const std::uint64_t draw = random_at(reinterpret_cast<std::uintptr_t>(this), 0, count);
    return static_cast<std::uint32_t>(1 + draw % (2 * std::uint64_t{every} - 1));
}

const GuardSlot* SampledGuards::State::slot_near(const void* address) const noexcept {
    if (address < pages.data) return &slots[0];
    const std::size_t index = index_of(address);
    const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(address) - pages.data);
    const GuardSlot* here = &slots[index];
    if (offset % stride_bytes < slot_bytes) return here;
    // In the page between two slots: it guards the one that lies against it.
    const GuardSlot* next = index + 1 < slot_count ? &slots[index + 1] : nullptr;
    const auto is_used = [](const GuardSlot* slot) {
        return slot != nullptr && slot->state.load(std::memory_order_acquire) != SlotState::unused;
    };
    const bool guards_here = is_used(here) && !here->guard_in_front;
    const bool guards_next = is_used(next) && next->guard_in_front;
    // Where both do, the nearer one is meant.
    const bool is_near_next = offset % stride_bytes - slot_bytes >= os::page_size() / 2;
    return guards_next && (is_near_next || !guards_here) ? next : here;
}

void SampledGuards::State::fill_report(const GuardSlot& slot, MemoryErrorReport& report) const noexcept {
    report.block = slot.block;
    report.alignment = slot.alignment;
    report.resource = name;
    report.owner = name;
    report.allocated_at = slot.allocated_at;
    report.freed_at = slot.freed_at;
}

bool SampledGuards::State::describe(const void* address, MemoryErrorReport& report) const noexcept {
    const std::size_t front = os::page_size();
    if (!MemoryBlock{pages.data - front, front + pages.size}.contains(address)) return false;
    const GuardSlot* slot = slot_near(address);
    const SlotState state = slot->state.load(std::memory_order_acquire);
    if (state != SlotState::live && state != SlotState::freed) return false;
    fill_report(*slot, report);
    report.address = address;
    if (state == SlotState::freed) {
        report.error = MemoryError::use_after_free;
    } else {
        report.error = address < slot->block.data ? MemoryError::underflow : MemoryError::overflow;
    }
    return true;
}

}  // namespace ouro
