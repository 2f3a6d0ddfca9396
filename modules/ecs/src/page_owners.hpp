#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/ecs/world_dump.hpp>
#include <ouro/ecs/world_reader.hpp>
#include <ouro/os/reservation.hpp>

#include <cstdint>
#include <span>

namespace ouro::detail {

// Whose a page of a world's segment is. The higher wins where several share one.
enum class PageOwner : std::uint8_t { nobody, records, entities, cold, warm, hot };

// Whose each page of a segment is, and how often it is written: 0 for never, 255 for in every tick.
class PageOwners {
public:
    // corrupt_data, and as os::reserve does.
    [[nodiscard]] static Expected<PageOwners> find(const WorldReader& reader, const PageHeat& heat) noexcept;

    // From the segment's first page to the last one that is somebody's.
    [[nodiscard]] std::uint32_t page_count() const noexcept { return used_; }
    [[nodiscard]] PageOwner owner(std::uint32_t page) const noexcept { return owners_[page]; }
    [[nodiscard]] std::uint32_t heat(std::uint32_t page) const noexcept { return heats_[page]; }
    // The hottest page of a range of the image.
    [[nodiscard]] std::uint32_t heat_of(std::uint64_t offset, std::uint64_t bytes) const noexcept;

private:
    void claim(std::uint64_t offset, std::uint64_t bytes, PageOwner owner) noexcept;
    void warm_up(std::uint64_t offset, std::uint64_t bytes, std::uint32_t heat) noexcept;
    [[nodiscard]] Status claim_all(const WorldReader& reader, bool has_counts) noexcept;
    [[nodiscard]] Status claim_columns(const WorldReader& reader, const ArchetypeRecord& archetype,
                                       bool has_counts) noexcept;

    os::Reservation memory_;
    std::span<PageOwner> owners_;
    std::span<std::uint8_t> heats_;
    std::uint64_t begin_ = 0;
    std::uint32_t used_ = 0;
};

}  // namespace ouro::detail
