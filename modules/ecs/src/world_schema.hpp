#pragma once

#include "field_conversion.hpp"

#include <ouro/base/expected.hpp>
#include <ouro/ecs/detail/world_core.hpp>
#include <ouro/ecs/world_file.hpp>
#include <ouro/ecs/world_reader.hpp>
#include <ouro/os/reservation.hpp>

#include <array>
#include <span>

namespace ouro::detail {

// The components of a world with their fields, apart from its image: what a program knows today, and what a
// file was saved with.
class WorldSchema {
public:
    // corrupt_data, and as os::reserve does.
    [[nodiscard]] static Expected<WorldSchema> read(const WorldReader& reader) noexcept;

    [[nodiscard]] std::span<const ComponentRecord> components() const noexcept { return components_; }
    [[nodiscard]] std::span<const FieldRecord> fields(std::size_t id) const noexcept {
        return fields_.subspan(first_[id], components_[id].field_count);
    }
    [[nodiscard]] std::size_t most_fields() const noexcept { return most_fields_; }
    // Of a sparse component; plain otherwise.
    [[nodiscard]] SparseRole role(std::size_t id) const noexcept { return roles_[id]; }
    // components().size() when there is none.
    [[nodiscard]] std::size_t find(std::string_view name) const noexcept;

private:
    os::Reservation memory_;
    std::span<ComponentRecord> components_;
    std::span<std::uint32_t> first_;
    std::span<FieldRecord> fields_;
    std::array<SparseRole, kMaxComponents> roles_{};
    std::size_t most_fields_ = 0;
};

// What becomes of each component of a file. Refuses what cannot be before anything is written.
class SchemaPlan {
public:
    static constexpr std::uint16_t kUnknown = UINT16_MAX;

    struct Fate {
        // Which one of today's, or kUnknown.
        std::uint16_t today = kUnknown;
        // What it is called now.
        std::string_view name;
        bool is_removed = false;
        bool is_converted = false;
    };

    SchemaPlan(const WorldSchema& saved, const WorldSchema& today, const WorldLoadOptions& options) noexcept
        : saved_(saved), today_(today), options_(options) {}

    // wrong_layout, with the problem; as os::reserve does.
    [[nodiscard]] Status make() noexcept;
    [[nodiscard]] const Fate& fate(std::size_t id) const noexcept { return fates_[id]; }
    // Of a component that is converted. Good until the next call.
    [[nodiscard]] std::span<const FieldCopy> copies(std::size_t id) noexcept;
    [[nodiscard]] const WorldSchema& today() const noexcept { return today_; }
    [[nodiscard]] bool changes_anything() const noexcept { return changes_anything_; }

private:
    [[nodiscard]] Status take(std::size_t id) noexcept;
    [[nodiscard]] Status plan_fields(std::size_t id, std::size_t& count) noexcept;
    [[nodiscard]] const FieldRecord* saved_field(std::size_t id, std::string_view component,
                                                 std::string_view today) const noexcept;
    [[nodiscard]] Status refuse(std::string_view component, std::string_view field,
                                std::string_view reason) const noexcept;

    const WorldSchema& saved_;
    const WorldSchema& today_;
    const WorldLoadOptions& options_;
    std::array<Fate, kMaxComponents> fates_{};
    os::Reservation memory_;
    std::span<FieldCopy> copies_;
    bool changes_anything_ = false;
};

}  // namespace ouro::detail
