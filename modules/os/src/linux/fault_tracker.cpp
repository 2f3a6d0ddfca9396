#include "fault_slots.hpp"
#include "mappings.hpp"
#include "page_range.hpp"

#include <ouro/os/fault_tracker.hpp>

#include <memory>
#include <utility>

namespace ouro::os {
namespace {

Status check_shape(MemoryBlock range, std::size_t granule_bytes) noexcept {
    if (!is_alignment(granule_bytes) || granule_bytes < page_size()) return Status::bad_alignment;
    return check_range(range, granule_bytes);
}

Expected<Reservation> make_flags(std::size_t count) noexcept {
    auto flags = Reservation::create({.bytes = count});
    if (!flags) return flags;
    const auto committed = flags->commit(0, flags->block().size);
    if (!committed) return committed.status();
    return flags;
}

}  // namespace

Expected<FaultTracker> FaultTracker::create(MemoryBlock range, std::size_t granule_bytes) noexcept {
    const Status shape = check_shape(range, granule_bytes);
    if (shape != Status::ok) return shape;
    const Status handler = install_fault_handler();
    if (handler != Status::ok) return handler;
    auto flags = make_flags(range.size / granule_bytes);
    if (!flags) return flags.status();
    auto* flag_bytes = reinterpret_cast<GranuleFlag*>(flags->block().data);
    const auto slot = claim_fault_slot(range, granule_bytes, flag_bytes);
    if (!slot) return slot.status();
    FaultTracker tracker(*slot, *std::move(flags));
    const auto armed = protect(range, Protection::read);
    if (!armed) return armed.status();
    return tracker;
}

FaultTracker::FaultTracker(FaultSlot* slot, Reservation flags) noexcept
    : slot_(slot), flags_(std::move(flags)) {}

FaultTracker::FaultTracker(FaultTracker&& other) noexcept
    : slot_(std::exchange(other.slot_, nullptr)), flags_(std::move(other.flags_)) {}

FaultTracker& FaultTracker::operator=(FaultTracker&& other) noexcept {
    if (this != &other) {
        std::destroy_at(this);
        std::construct_at(this, std::move(other));
    }
    return *this;
}

FaultTracker::~FaultTracker() {
    stop();
}

void FaultTracker::stop() noexcept {
    if (slot_ == nullptr) return;
    // Fails only when the range is gone already.
    [[maybe_unused]] const auto opened = protect(slot_->range(), Protection::read_write);
    free_fault_slot(*slot_);
    slot_ = nullptr;
}

MemoryBlock FaultTracker::range() const noexcept {
    return slot_ != nullptr ? slot_->range() : MemoryBlock{};
}

std::size_t FaultTracker::granule_bytes() const noexcept {
    return slot_ != nullptr ? slot_->granule_bytes() : 0;
}

Status FaultTracker::check_part(MemoryBlock part) const noexcept {
    if (slot_ == nullptr) return Status::not_tracked;
    const Status shape = check_range(part, slot_->granule_bytes());
    if (shape != Status::ok) return shape;
    return slot_->range().contains(part) ? Status::ok : Status::out_of_range;
}

Expected<void> FaultTracker::arm(MemoryBlock part) noexcept {
    const Status checked = check_part(part);
    if (checked != Status::ok) return checked;
    const GranuleRun run = slot_->run_of(part);
    slot_->change(run, GranuleState::open, GranuleState::armed);
    const auto armed = protect(part, Protection::read);
    // What could not be armed is open, and counts as written.
    if (!armed) slot_->change(run, GranuleState::armed, GranuleState::open);
    return armed;
}

Expected<void> FaultTracker::open(MemoryBlock part) noexcept {
    const Status checked = check_part(part);
    if (checked != Status::ok) return checked;
    slot_->change(slot_->run_of(part), GranuleState::armed, GranuleState::open);
    return protect(part, Protection::read_write);
}

Expected<ScanResult> FaultTracker::scan(MemoryBlock part, std::span<WrittenRange> out,
                                        AfterScan after) noexcept {
    const Status checked = check_part(part);
    if (checked != Status::ok) return checked;
    if (out.empty()) return Status::bad_argument;
    const GranuleRun whole = slot_->run_of(part);
    ScanResult result;
    std::size_t from = whole.first;
    while (from < whole.end) {
        const GranuleRun run = slot_->next_written({from, whole.end});
        if (run.first == run.end) return result;
        if (result.count == out.size()) {
            result.resume = slot_->block_of({run.first, run.end}).data;
            return result;
        }
        const MemoryBlock written = slot_->block_of(run);
        // Arming may fail for lack of mappings; the run then stays open and is reported again.
        if (after == AfterScan::rearm) (void)arm(written);
        const auto begin = reinterpret_cast<std::uintptr_t>(written.data);
        out[result.count++] = {begin, begin + written.size, 0};
        from = run.end;
    }
    return result;
}

}  // namespace ouro::os
