#pragma once

#include "world_schema.hpp"

#include <ouro/base/expected.hpp>
#include <ouro/ecs/detail/world_core.hpp>
#include <ouro/ecs/world_reader.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace ouro::detail {

// Puts saved bytes under a world that exists, and brings them to today's components.
class WorldLoader {
public:
    WorldLoader(WorldCore& core, std::string_view segment) noexcept : core_(core), segment_(segment) {}

    [[nodiscard]] std::size_t max_archetypes() const noexcept { return core_.declared_.size(); }

    // The bytes of the segment. What differs is declared.
    void copy(std::span<const std::byte> saved) noexcept;
    // What lies in the image now is the world. Fails as World::attach does.
    [[nodiscard]] Status adopt() noexcept;
    // capacity_exhausted; then the image must be rolled back.
    [[nodiscard]] Status convert(SchemaPlan& plan) noexcept;

private:
    void forget_caches() noexcept;
    [[nodiscard]] Status remove_component(ComponentId id) noexcept;
    [[nodiscard]] Status empty_archetype(std::uint32_t number, ComponentId id) noexcept;
    void describe(ComponentId id, const ComponentRecord& now) noexcept;
    [[nodiscard]] Status replace_fields(ComponentId id, std::span<const FieldRecord> fields) noexcept;
    [[nodiscard]] Status convert_component(ComponentId id, const ComponentRecord& now,
                                           std::span<const FieldCopy> copies) noexcept;
    [[nodiscard]] Status convert_singleton(ComponentId id, const ComponentRecord& now,
                                           std::span<const FieldCopy> copies) noexcept;
    [[nodiscard]] Status convert_column(ArchetypeRecord& archetype, unsigned column,
                                        const ComponentRecord& now,
                                        std::span<const FieldCopy> copies) noexcept;
    [[nodiscard]] Status make_switches(ComponentId id) noexcept;

    WorldCore& core_;
    std::string_view segment_;
};

}  // namespace ouro::detail
