#include <ouro/ecs/past_world.hpp>

#include <memory>
#include <utility>

namespace ouro {

PastWorld::PastWorld(PastWorld&& other) noexcept
    : view_(std::move(other.view_)),
      header_(other.header_),
      segment_(other.segment_),
      holds_(std::exchange(other.holds_, nullptr)) {
    tell_holds();
}

PastWorld& PastWorld::operator=(PastWorld&& other) noexcept {
    if (this == &other) return *this;
    std::destroy_at(this);
    return *std::construct_at(this, std::move(other));
}

PastWorld::~PastWorld() {
    if (holds_ != nullptr) holds_->kept_.emplace(std::move(*this));
}

void PastWorld::tell_holds() noexcept {
    if (holds_ != nullptr) holds_->link_ = &holds_;
    for (detail::PastHold* hold = holds_; hold != nullptr; hold = hold->next_)
        hold->past_ = this;
}

namespace detail {

void PastHold::join(const PastWorld& past) noexcept {
    past_ = &past;
    next_ = past.holds_;
    link_ = &past.holds_;
    if (next_ != nullptr) next_->link_ = &next_;
    past.holds_ = this;
}

void PastHold::leave() noexcept {
    *link_ = next_;
    if (next_ != nullptr) next_->link_ = link_;
    // To the next one, if there is one.
    kept_.reset();
}

}  // namespace detail

Expected<PastWorld> World::at(Tick tick) const noexcept {
    return seen_in(core_->ring().view(tick));
}

Expected<PastWorld> World::at(KeptFuture future, Tick tick) const noexcept {
    return seen_in(core_->ring().view(future, tick));
}

Expected<PastWorld> World::seen_in(Expected<TickView> view) const noexcept {
    if (!view) return view.status();
    const auto header = PastReader(*view).load<WorldHeader>(core_->offset_of_header());
    if (!header) return header.status();
    // Before the world was made, there was none.
    if (header->magic != WorldHeader::kMagic) return Status::not_found;
    return PastWorld(*std::move(view), *header, segment());
}

ComponentId PastWorld::find_component(std::string_view name) const noexcept {
    for (std::uint32_t id = 0; id < header_.component_count; ++id)
        if (component(static_cast<ComponentId>(id)).name.view() == name) return static_cast<ComponentId>(id);
    return kNoComponent;
}

Expected<EntitySlot> PastWorld::find(Entity entity) const noexcept {
    const auto index = static_cast<std::uint32_t>(entity.index());
    if (index >= header_.used_slots) return Status::stale_handle;
    const auto slot = read<EntitySlot>(header_.entities + std::uint64_t{index} * sizeof(EntitySlot));
    if (slot.archetype == kNoArchetype || slot.generation != entity.generation()) return Status::stale_handle;
    return slot;
}

std::uint32_t PastWorld::sparse_row(const SparseTable& table, Entity entity) const noexcept {
    const auto slot = static_cast<std::uint32_t>(entity.index());
    const std::uint64_t page = table.pages + std::uint64_t{slot / kSparsePageSlots} * sizeof(std::uint32_t);
    const auto numbers = read<std::uint32_t>(page);
    if (numbers == 0) return 0;
    return read<std::uint32_t>(numbers + std::uint64_t{slot % kSparsePageSlots} * sizeof(std::uint32_t));
}

Expected<PastWorld::Cell> PastWorld::find_cell(EntitySlot slot, ComponentId id) const noexcept {
    const ArchetypeRecord record = archetype(slot.archetype);
    const unsigned column = column_of(record, id);
    if (column == 0) return Status::not_found;
    const RowPlace place = place_of_row(slot.row);
    return Cell{block_column(record, place.block, column - 1), place};
}

Expected<PastWorld::Cell> PastWorld::find_sparse_cell(Entity entity, ComponentId id) const noexcept {
    const SparseTable table = sparse_table(id);
    const std::uint32_t row = sparse_row(table, entity);
    if (row == 0) return Status::not_found;
    const RowPlace place = place_of_row(row - 1);
    return Cell{block_column(table.rows, place.block, 1), place};
}

}  // namespace ouro
