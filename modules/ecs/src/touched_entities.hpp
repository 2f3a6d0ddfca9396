#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/ecs/world_reader.hpp>
#include <ouro/os/reservation.hpp>
#include <ouro/streams/state_ring.hpp>

#include <array>
#include <cstdint>
#include <span>

namespace ouro::detail {

// The slots whose entities may differ between two ticks, found from the bytes that differ.
class TouchedEntities {
public:
    TouchedEntities(const WorldReader& before, const WorldReader& after) noexcept
        : readers_{&before, &after} {}

    // corrupt_data, and as os::reserve does.
    [[nodiscard]] Status find(const TickView& before, const TickView& after) noexcept;
    // All of them, where nobody knows what differs.
    [[nodiscard]] Status take_all() noexcept;

    template <class Visit>
    Status each(Visit&& visit) const noexcept {
        for (std::uint32_t word = 0; word < bits_.size(); ++word) {
            for (std::uint64_t left = bits_[word]; left != 0; left &= left - 1) {
                const auto bit = static_cast<std::uint32_t>(std::countr_zero(left));
                if (const Status status = visit(word * 64 + bit); status != Status::ok) return status;
            }
        }
        return Status::ok;
    }

private:
    // Rows of a column that lie side by side, or their bits.
    struct Place {
        std::uint64_t begin;
        std::uint64_t end;
        // Of the entities' names of the same rows; zero: each four bytes are a slot's, from `first_slot` on.
        std::uint64_t names;
        // Zero: eight rows a byte.
        std::uint32_t bytes;
        std::uint32_t rows;
        std::uint32_t first_slot = 0;
    };

    [[nodiscard]] std::uint32_t slot_count() const noexcept;
    [[nodiscard]] Status reserve(bool has_places) noexcept;
    [[nodiscard]] Status list_places(unsigned side) noexcept;
    [[nodiscard]] Status list_rows(unsigned side, const ArchetypeRecord& archetype,
                                   const ArchetypeRecord* other) noexcept;
    [[nodiscard]] Status list_sparse(unsigned side, std::uint32_t id) noexcept;
    [[nodiscard]] Status list_block(unsigned side, const ArchetypeRecord& archetype,
                                    const ArchetypeRecord* other, std::uint32_t block,
                                    std::uint32_t rows) noexcept;
    [[nodiscard]] Expected<std::size_t> count_places(const WorldReader& reader) const noexcept;
    void take_range(ChangedRange range) noexcept;
    void take_slots(const WorldHeader& header, ChangedRange range) noexcept;
    void take_rows(const WorldReader& reader, const Place& place, std::uint32_t first,
                   std::uint32_t end) noexcept;
    void take(std::uint32_t slot) noexcept {
        if (slot / 64 < bits_.size()) bits_[slot / 64] |= std::uint64_t{1} << (slot % 64);
    }

    std::array<const WorldReader*, 2> readers_;
    os::Reservation memory_;
    std::span<std::uint64_t> bits_;
    std::array<std::span<Place>, 2> places_;
    std::array<std::size_t, 2> used_{};
};

}  // namespace ouro::detail
