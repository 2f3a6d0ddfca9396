#include <ouro/memory/detail/heap_listing.hpp>

#include <atomic>

namespace ouro::detail {

// Whoever writes looks again afterwards, so that what was written last is what is true.
void HeapListing::update(void* listing) noexcept {
    auto& self = *static_cast<HeapListing*>(listing);
    if (!self.registration.is_listed()) return;
    const HeapCore& core = *self.core;
    std::size_t written = 0;
    while (written != core.units().usable_units()) {
        written = core.units().usable_units();
        std::atomic_thread_fence(std::memory_order_seq_cst);
        self.registration.note_committed(written * UnitMap::kUnitBytes);
        std::atomic_thread_fence(std::memory_order_seq_cst);
    }
    note_use(listing);
}

void HeapListing::note_use(void* listing) noexcept {
    auto& self = *static_cast<HeapListing*>(listing);
    if (!self.registration.is_listed()) return;
    const HeapCore& core = *self.core;
    std::size_t told = 0;
    do {
        told = core.taken_bytes(std::memory_order_seq_cst);
        self.registration.note_use(told, core.peak_bytes());
    } while (told != core.taken_bytes(std::memory_order_seq_cst));
}

}  // namespace ouro::detail
