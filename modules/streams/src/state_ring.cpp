#include "refuse.hpp"
#include "ring_core.hpp"

#include <ouro/base/align.hpp>
#include <ouro/streams/state_ring.hpp>

#include <memory>
#include <utility>

namespace ouro {

using detail::RingCore;

Expected<StateRing> StateRing::create(const StateRingOptions& options, RingRefusal* refusal) noexcept {
    StateRing ring;
    RingRefusal why;
    const Status status = ring.start(options, why);
    if (refusal != nullptr) *refusal = why;
    if (status != Status::ok) return status;
    return ring;
}

Status StateRing::start(const StateRingOptions& options, RingRefusal& why) noexcept {
    auto image = LiveImage::create({.segments = options.segments,
                                    .address = options.address,
                                    .table = options.table,
                                    .name = options.name,
                                    .tag = options.tag},
                                   &why);
    if (!image) return image.status();
    const auto sizes = RingCore::measure(options, image->page_count(), why);
    if (!sizes) return sizes.status();
    const auto refuse_memory = [&](Status status) {
        return detail::refuse(why, status, RingFault::history_memory, {}, sizes->bytes);
    };
    if (sizes->bytes > SIZE_MAX) return refuse_memory(Status::size_overflow);
    auto memory = detail::HistoryMemory::create(options, static_cast<std::size_t>(sizes->bytes));
    if (!memory) return refuse_memory(memory.status());
    memory_ = *std::move(memory);
    RingCore* const core =
        std::construct_at(reinterpret_cast<RingCore*>(memory_.block().data), *std::move(image));
    const std::size_t own = align_up(sizeof(RingCore), detail::Carver::kAlignment);
    const MemoryBlock whole = memory_.block();
    core_ = core;
    core->belongs_to(*this);
    const Status status = core->start(options, *sizes, whole.sub(own, whole.size - own), why);
    if (status != Status::ok) return status;
    marks_ = core->marks();
    note_use();
    return Status::ok;
}

Expected<std::uint64_t> StateRing::least_history_bytes(const StateRingOptions& options,
                                                       RingRefusal* refusal) noexcept {
    RingRefusal why;
    const auto image_bytes = LiveImage::measure(options.segments, &why);
    const auto bytes =
        image_bytes
            ? RingCore::least_bytes(options, static_cast<std::uint32_t>(*image_bytes >> kStatePageShift), why)
            : image_bytes;
    if (refusal != nullptr) *refusal = why;
    return bytes;
}

StateRing::StateRing(StateRing&& other) noexcept
    : memory_(std::move(other.memory_)), core_(std::move(other.core_)), marks_(std::move(other.marks_)) {
    if (RingCore* const core = core_.get()) core->belongs_to(*this);
}

StateRing& StateRing::operator=(StateRing&& other) noexcept {
    if (this != &other) {
        end();
        memory_ = std::move(other.memory_);
        core_ = std::move(other.core_);
        marks_ = std::move(other.marks_);
        if (RingCore* const core = core_.get()) core->belongs_to(*this);
    }
    return *this;
}

StateRing& StateRingPlace::ring() const noexcept {
    return core_->owner();
}

StateRingPlace StateRing::place() const noexcept {
    return StateRingPlace(core());
}

StateRing::~StateRing() {
    end();
}

void StateRing::end() noexcept {
    if (RingCore* const core = std::exchange(core_.get(), nullptr)) std::destroy_at(core);
}

RingCore& StateRing::core() const noexcept {
    OURO_ASSERT(core_.get() != nullptr, "the ring was moved from, or never made");
    return *core_.get();
}

void StateRing::note_use() noexcept {
    core().note_image_use();
    memory_.note_use(core().history_use());
}

MemoryBlock StateRing::image() const noexcept {
    return core().image().block();
}
int StateRing::image_descriptor() const noexcept {
    return core().image().descriptor();
}
OffsetBase StateRing::base() const noexcept {
    return core().image().base();
}
std::span<const Segment> StateRing::segments() const noexcept {
    return core().image().segments();
}
Tick StateRing::newest() const noexcept {
    return core().newest();
}
Tick StateRing::oldest() const noexcept {
    return core().oldest();
}

Expected<MemoryBlock> StateRing::segment_block(std::string_view name) const noexcept {
    const auto segment = core().image().segment(name);
    if (!segment) return segment.status();
    return core().image().block_of(*segment);
}

Expected<Tick> StateRing::commit() noexcept {
    core().save_outside();
    const auto tick = core().commit();
    if (core().verifier() != nullptr && tick) detail::verify_commit(*this, core());
    note_use();
    return tick;
}
Expected<void> StateRing::rollback(Tick tick) noexcept {
    const Status status = core().rollback(tick);
    if (status == Status::ok) core().follow_back(static_cast<std::uint32_t>(tick));
    note_use();
    return status;
}
Expected<TickView> StateRing::view(Tick tick) const noexcept {
    return core().view(tick);
}
StateRingStats StateRing::stats() const noexcept {
    return core().stats();
}
Status StateRing::check() const noexcept {
    return core().check();
}

Expected<Tick> StateRing::nearest(Tick tick) const noexcept {
    return core().nearest(tick);
}
Expected<void> StateRing::restore_erased(Tick tick, StepFunction step, void* function) noexcept {
    const Status status = core().restore(*this, tick, step, function);
    note_use();
    return status;
}

Expected<KeptFuture> StateRing::branch(Tick tick) noexcept {
    const auto future = core().branch(tick);
    if (future) core().follow_back(static_cast<std::uint32_t>(tick));
    note_use();
    return future;
}
Expected<void> StateRing::drop(KeptFuture future) noexcept {
    const Status status = core().drop(future);
    note_use();
    return status;
}

Expected<TickView> StateRing::view(KeptFuture future, Tick tick) const noexcept {
    return core().view(future, tick);
}

Expected<void> StateRing::keep_outside(std::string_view segment, MemoryBlock outside,
                                       std::string_view name) noexcept {
    return core().keep_outside(segment, outside, name);
}
Expected<void> StateRing::release_outside(MemoryBlock outside) noexcept {
    return core().outside().remove(outside);
}
Expected<std::uint64_t> StateRing::outside_offset(const void* address) const noexcept {
    return core().outside().offset_of(address);
}
Expected<ImageOwner> StateRing::outside_at(std::uint64_t offset) const noexcept {
    return core().outside().owner_at(offset);
}
Expected<void> StateRing::tell_owners(std::string_view segment, SegmentOwnerFunction find) noexcept {
    return core().tell_owners(segment, find);
}
Expected<ImageOwner> StateRing::told_owner(std::uint64_t offset) const noexcept {
    return core().told_owner(offset);
}
Expected<void> StateRing::mask(const void* address, std::size_t bytes) noexcept {
    return core().mask(address, bytes);
}
Expected<void> StateRing::unmask(const void* address, std::size_t bytes) noexcept {
    return core().unmask(address, bytes);
}
bool StateRing::is_masked(std::uint64_t offset) const noexcept {
    return core().masks().covers(offset);
}

void StateRing::changed_erased(const TickView& from, const TickView& to, ChangedFunction visit,
                               void* function) noexcept {
    RingCore::changed(from, to, visit, function);
}

Expected<std::uint64_t> StateRing::hash(Tick tick, SegmentKind kind) const noexcept {
    return core().hash(tick, kind);
}

}  // namespace ouro
