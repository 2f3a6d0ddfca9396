#include "page_owners.hpp"

#include <algorithm>

namespace ouro::detail {

Expected<PageOwners> PageOwners::find(const WorldReader& reader, const PageHeat& heat) noexcept {
    PageOwners made;
    const auto pages = static_cast<std::size_t>(reader.segment_bytes() >> kStatePageShift);
    auto memory = os::Reservation::create({.bytes = 2 * pages + 1});
    if (!memory) return memory.status();
    if (const auto all = memory->commit(0, memory->block().size); !all) return all.status();
    made.memory_ = *std::move(memory);
    made.begin_ = reader.segment_offset();
    // Fresh memory is zero: nobody's, and never written.
    made.owners_ = {reinterpret_cast<PageOwner*>(made.memory_.block().data), pages};
    made.heats_ = {reinterpret_cast<std::uint8_t*>(made.memory_.block().data + pages), pages};
    const auto first = static_cast<std::size_t>(made.begin_ >> kStatePageShift);
    for (std::size_t i = 0; heat.ticks != 0 && i < pages && first + i < heat.counts.size(); ++i) {
        const std::uint64_t count = std::min(heat.counts[first + i], heat.ticks);
        made.heats_[i] = static_cast<std::uint8_t>(count * 255 / heat.ticks);
    }
    const WorldHeader& header = reader.header();
    made.claim(reader.segment_offset(), kStatePageBytes, PageOwner::records);
    made.claim(reader.header_offset(), sizeof(WorldHeader), PageOwner::records);
    made.claim(header.components, kMaxComponents * sizeof(ComponentRecord), PageOwner::records);
    made.claim(header.archetypes, std::uint64_t{header.archetype_count} * sizeof(ArchetypeRecord),
               PageOwner::records);
    made.claim(header.entities, std::uint64_t{header.used_slots} * sizeof(EntitySlot), PageOwner::entities);
    const Status status = made.claim_all(reader, heat.ticks != 0);
    if (status != Status::ok) return status;
    return made;
}

Status PageOwners::claim_all(const WorldReader& reader, bool has_counts) noexcept {
    for (std::uint32_t number = 0; number < reader.header().archetype_count; ++number) {
        const auto archetype = reader.archetype(number);
        if (!archetype) return archetype.status();
        const Status status = claim_columns(reader, *archetype, has_counts);
        if (status != Status::ok) return status;
    }
    for (std::uint32_t id = 0; id < reader.header().component_count; ++id) {
        const auto component = reader.component(id);
        if (!component) return component.status();
        if (component->kind != ComponentKind::sparse) continue;
        const auto table = reader.sparse(*component);
        if (!table) return table.status();
        claim(component->data, sizeof(SparseTable), PageOwner::records);
        const Status status = claim_columns(reader, table->rows, has_counts);
        if (status != Status::ok) return status;
    }
    return Status::ok;
}

Status PageOwners::claim_columns(const WorldReader& reader, const ArchetypeRecord& archetype,
                                 bool has_counts) noexcept {
    for (std::uint32_t i = 0; i < archetype.column_count; ++i) {
        const auto shape = reader.column(archetype, i);
        if (!shape) return shape.status();
        const auto component = reader.component(shape->component);
        if (!component) return component.status();
        const PageOwner owner = component->heat == Heat::hot    ? PageOwner::hot
                                : component->heat == Heat::warm ? PageOwner::warm
                                                                : PageOwner::cold;
        for (std::uint32_t block = 0; block < archetype.block_count; ++block) {
            const auto own = reader.block_column(archetype, block, i);
            if (!own) return own.status();
            const std::uint64_t bytes = std::uint64_t{rows_of_block(block)} * shape->bytes;
            claim(own->data, bytes, owner);
            // The older the last change, the colder.
            const std::uint32_t age = reader.header().tick - own->tick;
            if (!has_counts && own->tick != 0) warm_up(own->data, bytes, 255 / std::max(age, 1U));
        }
    }
    return Status::ok;
}

void PageOwners::claim(std::uint64_t offset, std::uint64_t bytes, PageOwner owner) noexcept {
    if (bytes == 0) return;
    const std::uint64_t last = (offset + bytes - 1 - begin_) >> kStatePageShift;
    for (std::uint64_t page = (offset - begin_) >> kStatePageShift; page <= last && page < owners_.size();
         ++page) {
        PageOwner& own = owners_[static_cast<std::size_t>(page)];
        own = std::max(own, owner);
        used_ = std::max(used_, static_cast<std::uint32_t>(page + 1));
    }
}

void PageOwners::warm_up(std::uint64_t offset, std::uint64_t bytes, std::uint32_t heat) noexcept {
    const std::uint64_t last = (offset + bytes - 1 - begin_) >> kStatePageShift;
    for (std::uint64_t page = (offset - begin_) >> kStatePageShift; page <= last && page < heats_.size();
         ++page) {
        std::uint8_t& own = heats_[static_cast<std::size_t>(page)];
        own = static_cast<std::uint8_t>(std::max<std::uint32_t>(own, heat));
    }
}

std::uint32_t PageOwners::heat_of(std::uint64_t offset, std::uint64_t bytes) const noexcept {
    std::uint32_t hottest = 0;
    if (bytes == 0) return hottest;
    const std::uint64_t last = (offset + bytes - 1 - begin_) >> kStatePageShift;
    for (std::uint64_t page = (offset - begin_) >> kStatePageShift; page <= last && page < heats_.size();
         ++page)
        hottest = std::max<std::uint32_t>(hottest, heats_[static_cast<std::size_t>(page)]);
    return hottest;
}

}  // namespace ouro::detail
