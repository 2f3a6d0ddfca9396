#include "world_audit.hpp"
#include "world_owner.hpp"

#include <ouro/ecs/world.hpp>
#include <ouro/ecs/world_reader.hpp>
#include <ouro/ecs/worlds.hpp>

#include <algorithm>
#include <new>

namespace ouro {

namespace {

// Whether a world can be in the segment of that name, if there is one.
bool can_hold_world(const StateRing& ring, std::string_view name) noexcept {
    return std::ranges::none_of(ring.segments(), [&](const Segment& segment) {
        return segment.name() == name &&
               (segment.kind != SegmentKind::portable || segment.tracking != Tracking::declared);
    });
}

// Without what the heap itself takes.
std::uint64_t table_bytes(const WorldOptions& options) noexcept {
    return sizeof(WorldHeader) + kMaxComponents * sizeof(ComponentRecord) +
           std::uint64_t{options.max_entities} * sizeof(EntitySlot) +
           std::uint64_t{options.max_archetypes} * sizeof(ArchetypeRecord);
}

void fill_refusal(WorldRefusal& refusal, Status status, const StateRing& ring,
                  const WorldOptions& options) noexcept {
    refusal = {.status = status,
               .segment = {},
               .max_entities = options.max_entities,
               .max_archetypes = options.max_archetypes,
               .needed_bytes = table_bytes(options)};
    static_cast<void>(refusal.segment.assign(options.segment.substr(0, refusal.segment.capacity())));
    for (const Segment& segment : ring.segments())
        if (segment.name() == options.segment) refusal.segment_bytes = segment.bytes;
}

}  // namespace

Expected<World> World::create(StateRing& ring, const WorldOptions& options, WorldRefusal* refusal) noexcept {
    auto world = create_in(ring, options);
    if (!world && refusal != nullptr) fill_refusal(*refusal, world.status(), ring, options);
    return world;
}

Expected<World> World::create_in(StateRing& ring, const WorldOptions& options) noexcept {
    if (options.max_entities == 0 || options.max_archetypes == 0 || options.max_archetypes > kMaxArchetypes)
        return Status::bad_argument;
    if (!can_hold_world(ring, options.segment)) return Status::bad_argument;
    auto heap = ImageHeap::create(ring, options.segment);
    if (!heap) return heap.status();
    auto world = make(ring, *heap, &options);
    // Another try must find the segment as this one did.
    if (!world) heap->discard();
    return world;
}

Expected<World> World::attach(StateRing& ring, std::string_view segment) noexcept {
    if (!can_hold_world(ring, segment)) return Status::bad_argument;
    const MemoryBlock image = ring.image();
    const std::span<const std::byte> bytes(image.data, image.size);
    const auto reader = WorldReader::open(bytes, segment);
    if (!reader) return reader.status();
    // Before anything in it is followed.
    if (const Status status = detail::audit_world(*reader, bytes); status != Status::ok) return status;
    const auto heap = ImageHeap::attach(ring, segment);
    if (!heap) return heap.status();
    return make(ring, *heap, nullptr);
}

Expected<World> World::make(StateRing& ring, const ImageHeap& heap, const WorldOptions* options) noexcept {
    WorldOptions own;
    if (options != nullptr) {
        own = *options;
    } else {
        const auto root = heap.root<WorldHeader>("ecs");
        if (!root) return root.status();
        own.max_archetypes = std::min(kMaxArchetypes, heap.get(*root).max_archetypes);
    }
    const std::size_t front = (sizeof(detail::WorldCore) + 63) / 64 * 64;
    const std::size_t bytes = front + detail::WorldCore::outside_bytes(own);
    auto outside = os::Reservation::create({.bytes = bytes});
    if (!outside) return outside.status();
    if (const auto committed = outside->commit(0, outside->block().size); !committed)
        return committed.status();
    const MemoryBlock block = outside->block();
    auto* const core = new (block.data) detail::WorldCore(ring, heap);
    const MemoryBlock tables = block.sub(front, block.size - front);
    const Status status = options != nullptr ? core->begin(own, tables) : core->attach(own, tables);
    if (status != Status::ok) return status;
    World world(*std::move(outside), core);
    // Reports name entities and fields; what is asked is the image, whatever becomes of this object.
    static_cast<void>(ring.tell_owners(world.segment(), &detail::find_world_owner));
    return world;
}

std::uint32_t World::destroy(std::span<const Entity> entities) noexcept {
    std::uint32_t destroyed = 0;
    for (const Entity entity : entities)
        if (destroy(entity) == Status::ok) ++destroyed;
    return destroyed;
}

Expected<void> World::set_disabled(Entity entity, ComponentId id, bool is_disabled) noexcept {
    RowPlace place{};
    expect_free(entity);
    if (!is_alive(entity)) return Status::stale_handle;
    BlockColumn* const column = core_->find_column(entity, id, place);
    if (column == nullptr) return Status::not_found;
    if (core_->component(id).toggles == 0) return Status::bad_argument;
    const Status status =
        core_->planes(*column, rows_of_block(place.block)).set_disabled(place.index, is_disabled);
    if (status != Status::ok) return status;
    return {};
}

Status World::deliver_events() noexcept {
    detail::EventLog& events = core_->events();
    return events.is_watching() ? events.deliver(core_->marks().epoch(), *this) : Status::ok;
}

Expected<Tick> World::commit() noexcept {
    World* const own = this;
    return commit_together({&own, 1});
}

std::string_view World::segment() const noexcept {
    const auto segments = ring().segments();
    const auto found = std::ranges::find_if(
        segments, [&](const Segment& each) { return each.offset == core_->segment_offset(); });
    return found == segments.end() ? std::string_view() : found->name();
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
