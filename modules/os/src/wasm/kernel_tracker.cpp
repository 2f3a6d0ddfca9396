#include <ouro/os/kernel_tracker.hpp>

#include <utility>

// No host tells which pages of linear memory were written: no tracker can be created.
namespace ouro::os {

Expected<KernelTracker> KernelTracker::create() noexcept {
    return Status::not_supported;
}

KernelTracker::KernelTracker(KernelTracker&& other) noexcept
    : fault_descriptor_(std::exchange(other.fault_descriptor_, -1)),
      pagemap_descriptor_(std::exchange(other.pagemap_descriptor_, -1)) {}

KernelTracker& KernelTracker::operator=(KernelTracker&& other) noexcept {
    fault_descriptor_ = std::exchange(other.fault_descriptor_, -1);
    pagemap_descriptor_ = std::exchange(other.pagemap_descriptor_, -1);
    return *this;
}

KernelTracker::~KernelTracker() = default;

Expected<void> KernelTracker::add(MemoryBlock) noexcept {
    return Status::not_supported;
}

Expected<void> KernelTracker::remove(MemoryBlock) noexcept {
    return Status::not_supported;
}

Expected<void> KernelTracker::arm(MemoryBlock) noexcept {
    return Status::not_supported;
}

Expected<void> KernelTracker::open(MemoryBlock) noexcept {
    return Status::not_supported;
}

Expected<ScanResult> KernelTracker::scan(MemoryBlock, std::span<WrittenRange>, AfterScan) noexcept {
    return Status::not_supported;
}

}  // namespace ouro::os
