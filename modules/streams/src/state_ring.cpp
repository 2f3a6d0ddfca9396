#include "ring_core.hpp"

#include <ouro/base/align.hpp>
#include <ouro/streams/state_ring.hpp>

#include <memory>

namespace ouro {

using detail::RingCore;

Expected<StateRing> StateRing::create(const StateRingOptions& options) noexcept {
    auto image = LiveImage::create({.segments = options.segments,
                                    .address = options.address,
                                    .table = options.table,
                                    .name = options.name,
                                    .tag = options.tag});
    if (!image) return image.status();
    const auto sizes = RingCore::measure(options, image->page_count());
    if (!sizes) return sizes.status();
    if (sizes->bytes > SIZE_MAX) return Status::size_overflow;
    auto memory = detail::HistoryMemory::create(options, static_cast<std::size_t>(sizes->bytes));
    if (!memory) return memory.status();
    StateRing ring;
    ring.memory_ = *std::move(memory);
    ring.core_ = std::construct_at(reinterpret_cast<RingCore*>(ring.memory_.block().data), *std::move(image));
    const std::size_t own = align_up(sizeof(RingCore), detail::Carver::kAlignment);
    const MemoryBlock whole = ring.memory_.block();
    const Status status = ring.core_->start(options, *sizes, whole.sub(own, whole.size - own));
    if (status != Status::ok) return status;
    ring.marks_ = ring.core_->marks();
    return ring;
}

StateRing& StateRing::operator=(StateRing&& other) noexcept {
    if (this != &other) {
        end();
        memory_ = std::move(other.memory_);
        core_ = std::exchange(other.core_, nullptr);
        marks_ = other.marks_;
    }
    return *this;
}

StateRing::~StateRing() {
    end();
}

void StateRing::end() noexcept {
    if (core_ != nullptr) std::destroy_at(std::exchange(core_, nullptr));
}

MemoryBlock StateRing::image() const noexcept {
    return core_->image().block();
}
int StateRing::image_descriptor() const noexcept {
    return core_->image().descriptor();
}
OffsetBase StateRing::base() const noexcept {
    return core_->image().base();
}
std::span<const Segment> StateRing::segments() const noexcept {
    return core_->image().segments();
}
Tick StateRing::newest() const noexcept {
    return core_->newest();
}
Tick StateRing::oldest() const noexcept {
    return core_->oldest();
}

Expected<MemoryBlock> StateRing::segment_block(std::string_view name) const noexcept {
    const auto segment = core_->image().segment(name);
    if (!segment) return segment.status();
    return core_->image().block_of(*segment);
}

Expected<Tick> StateRing::commit() noexcept {
    core_->save_outside();
    const auto tick = core_->commit();
    if (core_->verifier() != nullptr && tick) detail::verify_commit(*this, *core_);
    return tick;
}
Expected<void> StateRing::rollback(Tick tick) noexcept {
    const Status status = core_->rollback(tick);
    if (status == Status::ok) core_->follow_back(static_cast<std::uint32_t>(tick));
    return status;
}
Expected<TickView> StateRing::view(Tick tick) const noexcept {
    return core_->view(tick);
}
StateRingStats StateRing::stats() const noexcept {
    return core_->stats();
}
Status StateRing::check() const noexcept {
    return core_->check();
}

Expected<Tick> StateRing::nearest(Tick tick) const noexcept {
    return core_->nearest(tick);
}
Expected<void> StateRing::restore_erased(Tick tick, StepFunction step, void* function) noexcept {
    return core_->restore(*this, tick, step, function);
}

Expected<KeptFuture> StateRing::branch(Tick tick) noexcept {
    const auto future = core_->branch(tick);
    if (future) core_->follow_back(static_cast<std::uint32_t>(tick));
    return future;
}
Expected<void> StateRing::drop(KeptFuture future) noexcept {
    return core_->drop(future);
}

Expected<TickView> StateRing::view(KeptFuture future, Tick tick) const noexcept {
    return core_->view(future, tick);
}

Expected<void> StateRing::keep_outside(std::string_view segment, MemoryBlock outside,
                                       std::string_view name) noexcept {
    return core_->keep_outside(segment, outside, name);
}
Expected<void> StateRing::release_outside(MemoryBlock outside) noexcept {
    return core_->outside().remove(outside);
}
Expected<std::uint64_t> StateRing::outside_offset(const void* address) const noexcept {
    return core_->outside().offset_of(address);
}
Expected<ImageOwner> StateRing::outside_at(std::uint64_t offset) const noexcept {
    return core_->outside().owner_at(offset);
}
Expected<void> StateRing::mask(const void* address, std::size_t bytes) noexcept {
    return core_->mask(address, bytes);
}
Expected<void> StateRing::unmask(const void* address, std::size_t bytes) noexcept {
    return core_->unmask(address, bytes);
}
bool StateRing::is_masked(std::uint64_t offset) const noexcept {
    return core_->masks().covers(offset);
}

void StateRing::changed_erased(const TickView& from, const TickView& to, ChangedFunction visit,
                               void* function) noexcept {
    RingCore::changed(from, to, visit, function);
}

Expected<std::uint64_t> StateRing::hash(Tick tick, SegmentKind kind) const noexcept {
    return core_->hash(tick, kind);
}

}  // namespace ouro
