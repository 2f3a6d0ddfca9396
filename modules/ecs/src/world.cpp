#include <ouro/ecs/world.hpp>

#include <algorithm>
#include <new>

namespace ouro {

Expected<World> World::create(StateRing& ring, const WorldOptions& options) noexcept {
    if (options.max_entities == 0 || options.max_archetypes == 0 || options.max_archetypes > kMaxArchetypes)
        return Status::bad_argument;
    for (const Segment& segment : ring.segments()) {
        if (segment.name() != options.segment) continue;
        if (segment.kind != SegmentKind::portable || segment.tracking != Tracking::declared)
            return Status::bad_argument;
    }
    const auto heap = ImageHeap::create(ring, options.segment);
    if (!heap) return heap.status();
    return make(ring, *heap, &options);
}

Expected<World> World::attach(StateRing& ring, std::string_view segment) noexcept {
    const auto heap = ImageHeap::attach(ring, segment);
    if (!heap) return heap.status();
    return make(ring, *heap, nullptr);
}

Expected<World> World::make(StateRing& ring, const ImageHeap& heap, const WorldOptions* options) noexcept {
    std::uint32_t max_archetypes = kMaxArchetypes;
    if (options != nullptr) {
        max_archetypes = options->max_archetypes;
    } else {
        const auto root = heap.root<WorldHeader>("ecs");
        if (!root) return root.status();
        max_archetypes = std::min(max_archetypes, heap.get(*root).max_archetypes);
    }
    const std::size_t front = (sizeof(detail::WorldCore) + 63) / 64 * 64;
    const std::size_t bytes = front + detail::WorldCore::outside_bytes(max_archetypes);
    auto outside = os::Reservation::create({.bytes = bytes});
    if (!outside) return outside.status();
    if (const auto committed = outside->commit(0, outside->block().size); !committed)
        return committed.status();
    const MemoryBlock block = outside->block();
    auto* const core = new (block.data) detail::WorldCore(ring, heap);
    const MemoryBlock tables = block.sub(front, block.size - front);
    const Status status = options != nullptr ? core->begin(*options, tables) : core->attach(tables);
    if (status != Status::ok) return status;
    return World(*std::move(outside), core);
}

std::uint32_t World::destroy(std::span<const Entity> entities) noexcept {
    std::uint32_t destroyed = 0;
    for (const Entity entity : entities)
        if (destroy(entity) == Status::ok) ++destroyed;
    return destroyed;
}

Expected<void> World::set_disabled(Entity entity, ComponentId id, bool is_disabled) noexcept {
    RowPlace place{};
    if (!is_alive(entity)) return Status::stale_handle;
    BlockColumn* const column = core_->find_column(entity, id, place);
    if (column == nullptr) return Status::not_found;
    if (core_->component(id).toggles == 0) return Status::bad_argument;
    const Status status =
        core_->planes(*column, rows_of_block(place.block)).set_disabled(place.index, is_disabled);
    if (status != Status::ok) return status;
    return {};
}

Expected<Tick> World::commit() noexcept {
    core_->end_tick();
    auto tick = core_->ring().commit();
    if (!tick) core_->take_back_tick();
    return tick;
}

WorldStats World::stats() const noexcept {
    const WorldHeader& header = core_->header();
    return {.entities = header.live_entities,
            .free_slots = header.max_entities - header.live_entities - header.retired_slots,
            .retired_slots = header.retired_slots,
            .components = header.component_count,
            .archetypes = header.archetype_count};
}

}  // namespace ouro
