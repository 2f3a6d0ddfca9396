#include "column_pages.hpp"

#include <ouro/base/hash.hpp>
#include <ouro/ecs/detail/world_core.hpp>

namespace ouro::detail {
namespace {

constexpr std::uint32_t kArenaBytes = 16 * kStatePageBytes;
constexpr std::size_t kLine = kColumnLine;

std::uint64_t hash_of(const ComponentMask& mask) noexcept {
    std::uint64_t hash = 1;
    for (const std::uint64_t word : mask.words)
        hash = combine_hash(hash, word);
    return hash;
}

}  // namespace

std::uint32_t WorldCore::find_archetype(const ComponentMask& mask) const noexcept {
    const std::size_t last = by_mask_.size() - 1;
    for (std::size_t slot = hash_of(mask) & last; by_mask_[slot] != 0; slot = (slot + 1) & last)
        if (archetypes_[by_mask_[slot] - 1].mask == mask) return by_mask_[slot] - 1;
    return kNoArchetype;
}

void WorldCore::note_archetype(std::uint32_t number) noexcept {
    const std::size_t last = by_mask_.size() - 1;
    std::size_t slot = hash_of(archetypes_[number].mask) & last;
    while (by_mask_[slot] != 0)
        slot = (slot + 1) & last;
    by_mask_[slot] = number + 1;
}

void WorldCore::catch_up() noexcept {
    const std::uint32_t count = header_->archetype_count;
    const bool holds =
        known_archetypes_ <= count &&
        (known_archetypes_ == 0 || archetypes_[known_archetypes_ - 1].chain_hash == known_hash_);
    if (!holds) {
        for (std::uint32_t& number : by_mask_)
            number = 0;
        known_archetypes_ = 0;
    }
    while (known_archetypes_ < count)
        note_archetype(known_archetypes_++);
    known_hash_ = count == 0 ? 0 : archetypes_[count - 1].chain_hash;
}

Expected<std::uint32_t> WorldCore::archetype_with(const ComponentMask& mask) noexcept {
    catch_up();
    const std::uint32_t found = find_archetype(mask);
    if (found != kNoArchetype) return found;
    return make_archetype(mask);
}

Expected<std::uint32_t> WorldCore::make_archetype(const ComponentMask& mask) noexcept {
    if (!is_there()) return Status::not_found;
    const std::uint32_t number = header_->archetype_count;
    if (number == header_->max_archetypes) return Status::capacity_exhausted;
    std::uint32_t column_count = 0;
    mask.each(
        [&](ComponentId id) { column_count += components_[id].kind == ComponentKind::column ? 1U : 0U; });
    if (column_count > UINT8_MAX) return Status::capacity_exhausted;
    const std::uint32_t map_bytes = header_->component_count;
    const auto columns = heap_.allocate(column_count * sizeof(ColumnRecord) + map_bytes, kLine);
    if (!columns) return columns.status();
    declare(columns->data, columns->size);
    auto* column = reinterpret_cast<ColumnRecord*>(columns->data);
    std::byte* const map = columns->data + column_count * sizeof(ColumnRecord);
    std::uint32_t at_column = 0;
    mask.each([&](ComponentId id) {
        const ComponentRecord& component = components_[id];
        if (component.kind != ComponentKind::column) return;
        column[at_column++] = {component.bytes, id, component.toggles};
        map[id] = static_cast<std::byte>(at_column);
    });
    const std::uint64_t before = number == 0 ? 0 : archetypes_[number - 1].chain_hash;
    ArchetypeRecord& record = heap_.edit(archetypes_[number]);
    record = {};
    record.mask = mask;
    // The same numbers may have been other components once.
    record.chain_hash = combine_hash(combine_hash(before, header_->registry_hash), hash_of(mask)) | 1;
    record.column_count = static_cast<std::uint16_t>(column_count);
    record.columns = heap_.offset_of(columns->data);
    record.column_map = heap_.offset_of(map);
    record.column_map_bytes = map_bytes;
    declare_header();
    header_->archetype_count = number + 1;
    if (mask.has(kPrefabComponent)) ++header_->prefab_archetypes;
    catch_up();
    return number;
}

Expected<const MovePlan*> WorldCore::renew_move_plan(MovePlan& plan, std::uint32_t key) noexcept {
    const std::uint32_t archetype = key >> 16;
    const auto id = static_cast<ComponentId>(key >> 1 & 0x7fffU);
    const std::uint64_t own = archetypes_[archetype].chain_hash;
    const bool holds =
        plan.key == key && plan.chain_hash == own && is_archetype(plan.target, plan.target_hash);
    if (!holds) {
        // Of the world, not of an entity: as in a spawn.
        if ((key & 1) != 0 && components_[id].kind == ComponentKind::singleton) return Status::bad_argument;
        ComponentMask mask = archetypes_[archetype].mask;
        (key & 1) != 0 ? mask.add(id) : mask.remove(id);
        const auto target = archetype_with(mask);
        if (!target) return target.status();
        plan.target = *target;
        plan.target_hash = archetypes_[*target].chain_hash;
        plan.chain_hash = own;
        plan.key = key;
    }
    plan.column = static_cast<std::uint8_t>(column_of(archetypes_[plan.target], id));
    pair_columns(plan, archetypes_[archetype], archetypes_[plan.target]);
    plan.epoch = marks_.epoch();
    return &plan;
}

void WorldCore::pair_columns(MovePlan& plan, const ArchetypeRecord& source,
                             const ArchetypeRecord& target) const noexcept {
    const std::span<const ColumnRecord> columns = columns_of(source);
    plan.pair_count = 0;
    plan.is_simple = columns.size() <= MovePlan::kMaxPairs;
    for (unsigned from = 1; from < columns.size() && plan.is_simple; ++from) {
        const unsigned to = column_of(target, columns[from].component);
        if (to == 0) continue;
        plan.pairs[plan.pair_count++] = {static_cast<std::uint8_t>(from), static_cast<std::uint8_t>(to - 1),
                                         columns[from].bytes};
        plan.is_simple = columns[from].toggles == 0;
    }
}

Status WorldCore::make_plan(SpawnPlan& plan, std::span<const ComponentId> ids) noexcept {
    ComponentMask mask;
    mask.add(kEntityComponent);
    for (const ComponentId id : ids) {
        const bool is_known = id < header_->component_count;
        if (!is_known || mask.has(id) || components_[id].kind == ComponentKind::singleton)
            return is_known ? Status::bad_argument : Status::not_found;
        // Sparse ones are none of the archetype's.
        if (components_[id].kind != ComponentKind::sparse) mask.add(id);
    }
    const auto number = archetype_with(mask);
    if (!number) return number.status();
    const ArchetypeRecord& record = archetypes_[*number];
    plan.archetype = *number;
    plan.chain_hash = record.chain_hash;
    plan.registry_hash = header_->registry_hash;
    plan.type_count = static_cast<std::uint32_t>(ids.size());
    plan.epoch = 0;
    for (std::size_t i = 0; i < ids.size(); ++i)
        plan.columns[i] = static_cast<std::uint8_t>(column_of(record, ids[i]));
    return Status::ok;
}

std::span<const QueryMatch> WorldCore::matches_of(QueryCache& cache) noexcept {
    const std::uint32_t count = header_->archetype_count;
    if (count == 0) return {};
    // The hash of the last one is that of all before it, too.
    if (cache.knows(archetypes_[count - 1].chain_hash)) [[likely]]
        return {cache.matches, cache.match_count};
    return find_matches(cache);
}

std::span<const QueryMatch> WorldCore::find_matches(QueryCache& cache) noexcept {
    const FindingScope alone(is_finding_);
    const std::uint32_t count = header_->archetype_count;
    const std::uint64_t hash = archetypes_[count - 1].chain_hash;
    if (cache.knows(hash)) return {cache.matches, cache.match_count};
    const std::uint64_t registry = header_->registry_hash;
    if (!cache.is_shaped_by(registry)) cache.take_shape(cache.make_shape(*this), registry);
    const bool holds = cache.known != 0 && cache.known <= count &&
                       archetypes_[cache.known - 1].chain_hash == cache.known_hash;
    std::uint32_t matches = holds ? cache.match_count : 0;
    for (std::uint32_t number = holds ? cache.known : 0; number < count; ++number) {
        const ArchetypeRecord& archetype = archetypes_[number];
        cache.match_of[number] = 0;
        if (!archetype.mask.has_all(cache.shape.required) || archetype.mask.has_any(cache.shape.excluded))
            continue;
        cache.ready[matches] = {.archetype = number};
        QueryMatch& match = cache.matches[matches++];
        cache.match_of[number] = static_cast<std::uint16_t>(matches);
        match = {.archetype = number};
        for (std::uint32_t term = 0; term < cache.shape.term_count; ++term)
            match.columns[term] = static_cast<std::uint8_t>(column_of(archetype, cache.shape.terms[term]));
    }
    cache.end_matches(matches, count, hash);
    return {cache.matches, cache.match_count};
}

Expected<std::uint32_t> WorldCore::take_column(Heat heat, std::uint64_t bytes, unsigned column) noexcept {
    if (has_own_pages(bytes)) {
        const OwnPages pages = own_pages(bytes, column);
        if (pages.bytes > heap_.segment().size) return Status::capacity_exhausted;
        const auto block = heap_.allocate_unclear(pages.bytes, kStatePageBytes);
        if (!block) return block.status();
        return static_cast<std::uint32_t>(heap_.offset_of(block->data) + pages.stagger);
    }
    HeatArena& arena = header_->arenas[static_cast<std::size_t>(heat)];
    const auto rounded = static_cast<std::uint32_t>(whole(bytes, kLine));
    declare_header();
    if (arena.end - arena.cursor < rounded) {
        const auto block = heap_.allocate_unclear(kArenaBytes, kStatePageBytes);
        if (!block) return block.status();
        arena = {heap_.offset_of(block->data), heap_.offset_of(block->data) + kArenaBytes};
    }
    const std::uint32_t offset = arena.cursor;
    arena.cursor += rounded;
    return offset;
}

// What was cut from an arena stays cut: the world is full anyway.
void WorldCore::give_back(std::span<const ColumnRecord> columns, const BlockColumn* made,
                          std::uint32_t rows) noexcept {
    for (unsigned i = 0; i < columns.size(); ++i) {
        if (made[i].planes != 0) planes(const_cast<BlockColumn&>(made[i]), rows).release();
        if (made[i].data != 0) give_back_column(columns[i], made[i], rows, i);
    }
}

void WorldCore::give_back_column(const ColumnRecord& column, const BlockColumn& made, std::uint32_t rows,
                                 unsigned number) noexcept {
    const std::uint64_t bytes = std::uint64_t{rows} * column.bytes;
    if (!has_own_pages(bytes)) return;
    const OwnPages pages = own_pages(bytes, number);
    heap_.deallocate({at(made.data) - pages.stagger, pages.bytes});
}

Status WorldCore::make_columns(std::span<const ColumnRecord> columns, BlockColumn* made,
                               std::uint32_t rows) noexcept {
    for (unsigned i = 0; i < columns.size(); ++i) {
        const Heat heat = components_[columns[i].component].heat;
        const auto data = take_column(heat, std::uint64_t{rows} * columns[i].bytes, i);
        if (!data) return data.status();
        made[i].data = *data;
        // There must be room to switch rows off when they are moved.
        if (columns[i].toggles == 0) continue;
        if (const Status status = planes(made[i], rows).reserve(); status != Status::ok) return status;
    }
    return Status::ok;
}

Status WorldCore::add_block(ArchetypeRecord& archetype) noexcept {
    const std::uint32_t number = archetype.block_count;
    if (number == kMaxBlocks) return Status::capacity_exhausted;
    const auto block = heap_.allocate(archetype.column_count * sizeof(BlockColumn), kLine);
    if (!block) return block.status();
    declare(block->data, block->size);
    auto* const made = reinterpret_cast<BlockColumn*>(block->data);
    const auto columns = columns_of(archetype);
    if (const Status status = make_columns(columns, made, rows_of_block(number)); status != Status::ok) {
        give_back(columns, made, rows_of_block(number));
        heap_.deallocate(*block);
        return status;
    }
    declare(&archetype, sizeof(archetype));
    archetype.blocks[number] = heap_.offset_of(block->data);
    archetype.block_count = static_cast<std::uint16_t>(number + 1);
    return Status::ok;
}

}  // namespace ouro::detail
