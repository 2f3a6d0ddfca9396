#include "guard_bytes.hpp"
#include "guard_slots.hpp"

#include <ouro/base/align.hpp>
#include <ouro/memory/detail/block_assert.hpp>
#include <ouro/memory/memory_resource.hpp>
#include <ouro/memory/sampled_guards.hpp>

#include <cstring>
#include <memory>
#include <utility>

namespace ouro {
namespace {

using GuardsState = SampledGuards::State;

struct Layout {
    std::size_t slot_bytes = 0;
    std::size_t page_bytes = 0;
    std::size_t record_bytes = 0;
};

Expected<Layout> plan(const SampledGuards::Options& options) noexcept {
    if (options.slots == 0 || options.slot_bytes == 0) return Status::zero_size;
    const std::size_t page = os::page_size();
    const auto slot = checked_align_up(options.slot_bytes, page);
    if (!slot) return slot.status();
    const auto stride = checked_add(*slot, page);
    if (!stride) return stride.status();
    const auto pages = checked_multiply<std::size_t>(*stride, options.slots);
    if (!pages) return pages.status();
    const auto slots = checked_multiply<std::size_t>(sizeof(GuardSlot), options.slots);
    if (!slots) return slots.status();
    const auto records = checked_align_up(sizeof(GuardsState) + alignof(GuardSlot) + *slots, page);
    if (!records) return records.status();
    return Layout{.slot_bytes = *slot, .page_bytes = *pages, .record_bytes = *records};
}

GuardsState* make_state(const SampledGuards::Options& options, const Layout& layout, MemoryBlock records,
                        MemoryBlock pages) noexcept {
    auto* state = std::construct_at(reinterpret_cast<GuardsState*>(records.data));
    const std::size_t offset = align_up(sizeof(GuardsState), alignof(GuardSlot));
    state->slots = reinterpret_cast<GuardSlot*>(records.data + offset);
    for (std::uint32_t i = 0; i < options.slots; ++i)
        std::construct_at(state->slots + i);
    state->name = options.name;
    state->pages = pages;
    state->slot_bytes = layout.slot_bytes;
    state->stride_bytes = layout.slot_bytes + os::page_size();
    state->slot_count = options.slots;
    state->side = options.side;
    state->sample_every = options.sample_every;
    return state;
}

// A single page keeps its memory, which spares the next block of the slot a page fault; more goes back to the
// system. When the system refuses, a use after free goes unnoticed; nothing else changes.
void hide(MemoryBlock committed) noexcept {
    if (committed.size > os::page_size() || !os::protect(committed, os::Protection::none))
        (void)os::decommit(committed);
}

// Whether pages can be made to fault here: tried with one that nobody uses yet.
Status try_protection(MemoryBlock page) noexcept {
    const Status hidden = os::protect(page, os::Protection::none).status();
    return hidden == Status::ok ? os::protect(page, os::Protection::read_write).status() : hidden;
}

}  // namespace

Expected<SampledGuards> SampledGuards::create(const Options& options) noexcept {
    const auto layout = plan(options);
    if (!layout) return layout.status();
    auto records = os::Reservation::create({.bytes = layout->record_bytes});
    if (!records) return records.status();
    if (const auto done = records->commit(0, layout->record_bytes); !done) return done.status();
    const Status protects = try_protection(records->block().sub(0, os::page_size()));
    if (protects != Status::ok) return protects;
    // The page in front of the first slot; each slot brings the one behind it.
    auto pages = os::Reservation::create({.bytes = layout->page_bytes}, os::page_size());
    if (!pages) return pages.status();
    GuardsState* state = make_state(options, *layout, records->block(), pages->block());
    if (options.explain_faults) register_guards(*state);
    return SampledGuards(*std::move(records), *std::move(pages), state);
}

SampledGuards::SampledGuards(os::Reservation records, os::Reservation pages, State* state) noexcept
    : records_(std::move(records)), pages_(std::move(pages)), state_(state) {}

SampledGuards::SampledGuards(SampledGuards&& other) noexcept
    : records_(std::move(other.records_)),
      pages_(std::move(other.pages_)),
      state_(std::exchange(other.state_, nullptr)),
      left_(other.left_.load(std::memory_order_relaxed)) {}

SampledGuards& SampledGuards::operator=(SampledGuards&& other) noexcept {
    if (this != &other) {
        std::destroy_at(this);
        std::construct_at(this, std::move(other));
    }
    return *this;
}

SampledGuards::~SampledGuards() {
    if (state_ != nullptr) forget_guards(*state_);
}

bool SampledGuards::begin_interval() noexcept {
    SampleCountdown countdown;
    const bool sampled = begin_interval(countdown);
    left_.store(countdown.left, std::memory_order_relaxed);
    return sampled;
}

bool SampledGuards::begin_interval(SampleCountdown& countdown) noexcept {
    if (state_ == nullptr) return false;
    countdown.left = state_->draw_interval();
    return sample_every() != 0;
}

std::uint32_t SampledGuards::sample_every() const noexcept {
    return state_ != nullptr ? state_->sample_every.load(std::memory_order_relaxed) : 0;
}

void SampledGuards::set_sample_every(std::uint32_t every) noexcept {
    if (state_ != nullptr) state_->sample_every.store(every, std::memory_order_relaxed);
}

Expected<MemoryBlock> SampledGuards::allocate(std::size_t size, std::size_t alignment) noexcept {
    const Status asked = check_allocation(size, alignment);
    if (asked != Status::ok) return asked;
    if (state_ == nullptr || size > state_->slot_bytes || alignment > state_->slot_bytes)
        return Status::capacity_exhausted;
    GuardSlot* slot = state_->claim();
    if (slot == nullptr) return Status::capacity_exhausted;
    const Status placed = state_->place(*slot, size, alignment);
    if (placed != Status::ok) {
        state_->let_go(*slot, SlotState::unused);
        return placed;
    }
    guard_bytes::write_canary(slot->bytes_in_front());
    guard_bytes::write_canary(slot->bytes_behind());
    std::memset(slot->block.data, guard_bytes::kFresh, size);
    slot->allocated_at.capture(1);
    slot->freed_at.clear();
    const MemoryBlock block = slot->block;
    slot->state.store(SlotState::live, std::memory_order_release);
    return block;
}

void SampledGuards::deallocate(void* address) noexcept {
    const MemoryBlock block = block_at(address);
    const std::size_t alignment = block.is_null() ? 1 : state_->slots[state_->index_of(address)].alignment;
    deallocate(block.is_null() ? MemoryBlock{static_cast<std::byte*>(address), 1} : block, alignment);
}

void SampledGuards::deallocate(MemoryBlock block, std::size_t alignment) noexcept {
    OURO_BLOCK_ASSERT(owns(block.data), "guards take back what they gave", state_->name, block.data);
    GuardSlot& slot = state_->slots[state_->index_of(block.data)];
    MemoryErrorReport report{.address = block.data, .said_block = block, .said_alignment = alignment};
    SlotState expected = SlotState::live;
    const bool is_start = block.data == slot.block.data;
    if (!is_start || !slot.state.compare_exchange_strong(expected, SlotState::changing)) {
        state_->fill_report(slot, report);
        report.error = is_start ? MemoryError::double_free : MemoryError::foreign_pointer;
        report.noticed_at.capture(1);
        return report_memory_error(report);
    }
    slot.freed_at.capture(1);
    const std::byte* damage = slot.damage();
    hide(slot.committed);
    state_->fill_report(slot, report);
    state_->let_go(slot, SlotState::freed);
    report.freed_at.clear();
    report.noticed_at.capture(1);
    const auto tell = [&report](MemoryError error, const void* where) {
        report.error = error;
        report.address = where;
        report_memory_error(report);
    };
    if (damage != nullptr)
        tell(damage < report.block.data ? MemoryError::underflow : MemoryError::overflow, damage);
    if (block.size != report.block.size) tell(MemoryError::wrong_size, block.data);
    if (alignment != report.alignment) tell(MemoryError::wrong_alignment, block.data);
}

MemoryBlock SampledGuards::block_at(const void* address) const noexcept {
    if (!owns(address)) return {};
    const GuardSlot& slot = state_->slots[state_->index_of(address)];
    const bool live = slot.state.load(std::memory_order_acquire) == SlotState::live;
    return live && slot.block.data == address ? slot.block : MemoryBlock{};
}

bool SampledGuards::describe(const void* address, MemoryErrorReport& report) const noexcept {
    return state_ != nullptr && state_->describe(address, report);
}

std::size_t SampledGuards::live_blocks() const noexcept {
    std::size_t count = 0;
    for (std::uint32_t i = 0; state_ != nullptr && i < state_->slot_count; ++i) {
        const SlotState state = state_->slots[i].state.load(std::memory_order_relaxed);
        count += state == SlotState::live ? 1U : 0U;
    }
    return count;
}

std::uint64_t SampledGuards::slots_tried() const noexcept {
    return state_ != nullptr ? state_->next_slot.load(std::memory_order_relaxed) : 0;
}

Status SampledGuards::check() const noexcept {
    for (std::uint32_t i = 0; state_ != nullptr && i < state_->slot_count; ++i) {
        const GuardSlot& slot = state_->slots[i];
        if (slot.state.load(std::memory_order_acquire) != SlotState::live) continue;
        if (slot.damage() != nullptr || !state_->bytes_of(i).contains(slot.block))
            return Status::corrupt_data;
    }
    return Status::ok;
}

void SampledGuards::visit_live(Visit visit, void* context) const noexcept {
    for (std::uint32_t i = 0; state_ != nullptr && i < state_->slot_count; ++i) {
        const GuardSlot& slot = state_->slots[i];
        if (slot.state.load(std::memory_order_acquire) == SlotState::live)
            visit(context, slot.block, slot.alignment, slot.allocated_at);
    }
}

}  // namespace ouro
