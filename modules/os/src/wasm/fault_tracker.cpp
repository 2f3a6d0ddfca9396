#include <ouro/os/fault_tracker.hpp>

#include <utility>

// Linear memory cannot be protected, and a trap cannot be resumed: no tracker can be created.
namespace ouro::os {

Expected<FaultTracker> FaultTracker::create(MemoryBlock, std::size_t) noexcept {
    return Status::not_supported;
}

FaultTracker::FaultTracker(FaultTracker&& other) noexcept
    : slot_(std::exchange(other.slot_, nullptr)), flags_(std::move(other.flags_)) {}

FaultTracker& FaultTracker::operator=(FaultTracker&& other) noexcept {
    slot_ = std::exchange(other.slot_, nullptr);
    flags_ = std::move(other.flags_);
    return *this;
}

FaultTracker::~FaultTracker() = default;

MemoryBlock FaultTracker::range() const noexcept {
    return {};
}

std::size_t FaultTracker::granule_bytes() const noexcept {
    return 0;
}

Expected<void> FaultTracker::arm(MemoryBlock) noexcept {
    return Status::not_supported;
}

Expected<void> FaultTracker::open(MemoryBlock) noexcept {
    return Status::not_supported;
}

Expected<ScanResult> FaultTracker::scan(MemoryBlock, std::span<WrittenRange>, AfterScan) noexcept {
    return Status::not_supported;
}

}  // namespace ouro::os
