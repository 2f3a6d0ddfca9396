#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/base/memory_block.hpp>
#include <ouro/streams/dirty_map.hpp>
#include <ouro/streams/image_owner.hpp>
#include <ouro/streams/live_image.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace ouro::detail {

// Memory outside the image that is kept with it: each range has a copy in a segment. Before a commit the
// copies become like the ranges, after going back the ranges like the copies; only what differs is written.
class OutsideRanges {
public:
    static constexpr std::size_t kMaxRanges = 64;

    // As StateRing::keep_outside. `since` is the first tick that will have it.
    Status add(const LiveImage& image, std::string_view segment, MemoryBlock outside, std::string_view name,
               std::uint32_t since) noexcept;
    // not_found.
    Status remove(MemoryBlock outside) noexcept;

    // Where in the image the copy of a byte is; not_found.
    [[nodiscard]] Expected<std::uint64_t> offset_of(const void* outside) const noexcept;
    // What lies outside of which the copy has this byte; not_found.
    [[nodiscard]] Expected<ImageOwner> owner_at(std::uint64_t offset) const noexcept;

    void save(const LiveImage& image, DirtyMap& marks) noexcept;
    // Ranges that the tick does not have stay as they are; the next tick will have them.
    void load(const LiveImage& image, std::uint32_t tick) noexcept;

private:
    struct Range {
        MemoryBlock outside;
        std::uint64_t offset = 0;
        std::uint32_t since = 0;
        ImageOwner::Name name{};
    };

    [[nodiscard]] std::span<Range> ranges() noexcept { return {ranges_.data(), count_}; }
    [[nodiscard]] std::span<const Range> ranges() const noexcept { return {ranges_.data(), count_}; }
    // A place in the segment that no copy has; not_found.
    [[nodiscard]] Expected<std::uint64_t> find_room(const Segment& segment, std::size_t bytes) const noexcept;
    [[nodiscard]] bool is_free(std::uint64_t offset, std::size_t bytes) const noexcept;

    std::array<Range, kMaxRanges> ranges_{};
    std::size_t count_ = 0;
};

}  // namespace ouro::detail
