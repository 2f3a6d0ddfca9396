#pragma once

#include <ouro/ecs/detail/world_core.hpp>

#include <cstdint>

// What spawning one entity after the other is made of.
namespace ouro::detail {

inline Entity WorldCore::take_slot(std::uint32_t archetype, std::uint32_t row) noexcept {
    std::uint32_t index = header_->used_slots;
    std::uint16_t generation = 1;
    declare_header();
    if (header_->first_free != 0) {
        index = header_->first_free - 1;
        header_->first_free = slots_[index].row;
        generation = slots_[index].generation;
    } else {
        ++header_->used_slots;
    }
    ++header_->live_entities;
    declare_slot(index) = {row, static_cast<std::uint16_t>(archetype), generation};
    return Entity(index, generation);
}

inline bool WorldCore::append(const SpawnPlan& plan, Entity& entity, std::uint32_t& index) noexcept {
    if (plan.epoch != marks_.epoch() || events_.is_watching()) [[unlikely]]
        return false;
    const std::uint32_t row = plan.record->row_count;
    if (row / 64 != plan.group) [[unlikely]]
        return false;
    // Whoever opened the window in this epoch has declared the header, and some slot.
    WorldHeader& header = *header_;
    std::uint32_t slot = header.used_slots;
    std::uint16_t generation = 1;
    if (header.first_free != 0) {
        slot = header.first_free - 1;
        generation = slots_[slot].generation;
        header.first_free = slots_[slot].row;
    } else if (slot != header.max_entities) [[likely]] {
        header.used_slots = slot + 1;
    } else {
        return false;
    }
    ++header.live_entities;
    slots_[slot] = {row, static_cast<std::uint16_t>(plan.archetype), generation};
    plan.record->row_count = row + 1;
    index = row % 64;
    entity = Entity(slot, generation);
    plan.names[index] = entity;
    return true;
}

// At the very end of a spawn, so that nothing has to be kept over the call that is made now and then. What is
// kept costs each time where no register outlives a call, as in wasm32.
inline void WorldCore::declare_appended(Entity entity) noexcept {
    const auto slot = static_cast<std::uint32_t>(entity.index());
    if (slot / kSlotsALine != own_slots_.group) [[unlikely]]
        declare_slot(slot);
}

}  // namespace ouro::detail
