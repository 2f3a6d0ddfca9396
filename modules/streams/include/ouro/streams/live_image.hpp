#pragma once

#include <ouro/base/assert.hpp>
#include <ouro/base/expected.hpp>
#include <ouro/base/hash.hpp>
#include <ouro/base/memory_block.hpp>
#include <ouro/base/offset_ptr.hpp>
#include <ouro/memory/block_registry.hpp>
#include <ouro/os/memory_object.hpp>
#include <ouro/os/reservation.hpp>
#include <ouro/streams/detail/reset_on_move.hpp>
#include <ouro/streams/memory_table.hpp>
#include <ouro/streams/ring_refusal.hpp>
#include <ouro/streams/segment.hpp>
#include <ouro/streams/stream.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

namespace ouro {

// The first page of an image, as bytes that mean the same everywhere. It names the portable segments only:
// what else a program has does not change it.
struct ImageHeader {
    struct Part {
        std::array<char, kSegmentNameBytes> name;
        std::uint64_t offset;
        std::uint64_t bytes;
    };
    static constexpr std::array<char, 8> kMagic = {'o', 'u', 'r', 'o', 'i', 'm', 'g', '\0'};
    static constexpr std::uint32_t kVersion = 1;

    std::array<char, 8> magic;
    std::uint32_t version;
    std::uint32_t page_bytes;
    // Of names, places and sizes below.
    std::uint64_t layout_hash;
    std::uint32_t part_count;
    std::uint32_t unused;
    std::array<Part, kMaxSegments> parts;

    // Requires: part_count is not damaged.
    [[nodiscard]] std::span<const Part> used_parts() const noexcept {
        return std::span(parts).first(part_count);
    }
    [[nodiscard]] std::uint64_t hash_of_parts() const noexcept {
        return hash_bytes(&parts, sizeof(parts), part_count);
    }
};
static_assert(sizeof(ImageHeader) <= kStatePageBytes &&
              std::has_unique_object_representations_v<ImageHeader>);

// The tag of images and their history whose program names none.
inline constexpr std::string_view kStateTagName = "simulation state";

struct LiveImageOptions {
    std::span<const SegmentOptions> segments;
    // The address wanted, or null for any; address_in_use when it is taken.
    void* address = nullptr;
    // Instead of addresses of its own, a stream of this table, which outlives the image and says what the
    // stream was refused; null for none.
    MemoryTable* table = nullptr;
    // What it is called in the table of blocks.
    std::string_view name = "state image";
    // Untagged stands for kStateTagName.
    Tag tag = {};
};

// All simulation state in one range: a header page, then segments, at an address that does not change. The
// memory is mapped twice where the platform can: what is restored goes through the second mapping, which no
// tracker watches. Fresh memory is zero and takes room when it is written.
class LiveImage {
public:
    // 32-bit offsets reach this far.
    static constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 32;

    // Fails with zero_size (no segments, or one without bytes), capacity_exhausted (too many segments),
    // bad_argument (a name that is empty, too long or there twice), bad_alignment (an offset), address_in_use
    // (segments overlap, or the address is taken), size_overflow (more than kMaxBytes), not_supported (a
    // tracking that this machine has not), and as os::reserve, MemoryObject::create and, in a table,
    // MemoryTable::open_stream do. A table and an address together are a bad_argument. What exactly was wrong
    // is said in the refusal, where one is given.
    [[nodiscard]] static Expected<LiveImage> create(const LiveImageOptions& options,
                                                    RingRefusal* refusal = nullptr) noexcept;
    // The bytes that an image of such segments has. Fails as create does because of them.
    [[nodiscard]] static Expected<std::uint64_t> measure(std::span<const SegmentOptions> segments,
                                                         RingRefusal* refusal = nullptr) noexcept;

    // Of an image that was moved from, or that nobody made, nothing else may be called (assert).
    constexpr LiveImage() noexcept = default;
    LiveImage(LiveImage&& other) noexcept = default;
    LiveImage& operator=(LiveImage&& other) noexcept;
    ~LiveImage() = default;

    [[nodiscard]] MemoryBlock block() const noexcept {
        expect_made();
        return block_.get();
    }
    // The same bytes for whoever restores; where there is no second mapping, the same addresses.
    [[nodiscard]] MemoryBlock alias() const noexcept {
        expect_made();
        return alias_;
    }
    [[nodiscard]] OffsetBase base() const noexcept { return {block().data, block().size}; }
    [[nodiscard]] std::uint32_t page_count() const noexcept {
        return static_cast<std::uint32_t>(block().size >> kStatePageShift);
    }

    // In the order of their places. The header's page belongs to none.
    [[nodiscard]] std::span<const Segment> segments() const noexcept {
        expect_made();
        return placed();
    }
    // not_found when there is none of that name.
    [[nodiscard]] Expected<Segment> segment(std::string_view name) const noexcept;
    // The one that holds the byte, or null.
    [[nodiscard]] const Segment* segment_at(std::uint64_t offset) const noexcept;

    [[nodiscard]] MemoryBlock block_of(const Segment& segment) const noexcept {
        return block().sub(static_cast<std::size_t>(segment.offset), static_cast<std::size_t>(segment.bytes));
    }
    // For a reader in another process; -1 where memory has no second mapping.
    [[nodiscard]] int descriptor() const noexcept {
        expect_made();
        return object_.descriptor();
    }

    // Shows in the list of blocks how much of it is in use.
    void note_use(std::size_t bytes) noexcept;

    // Writes the header page anew, as it was when the image was fresh.
    void write_header() noexcept;

private:
    void expect_made() const noexcept {
        OURO_ASSERT(!block_.get().is_null(), "the image was moved from, or never made");
    }
    // Those that it has so far, while it is made.
    [[nodiscard]] std::span<const Segment> placed() const noexcept { return {segments_.data(), count_}; }
    [[nodiscard]] bool has_placed(std::string_view name) const noexcept;
    Status start(const LiveImageOptions& options, RingRefusal& why) noexcept;
    Status place(std::span<const SegmentOptions> options, RingRefusal& why) noexcept;
    Status place_one(const SegmentOptions& options, std::uint64_t& end, RingRefusal& why) noexcept;
    [[nodiscard]] Status check_overlaps(RingRefusal& why) const noexcept;
    Status choose_tracking(RingRefusal& why) noexcept;
    [[nodiscard]] Expected<std::size_t> total_bytes() const noexcept;
    [[nodiscard]] Expected<MemoryBlock> take_addresses(const LiveImageOptions& options,
                                                       std::size_t bytes) noexcept;
    Status map(const LiveImageOptions& options, RingRefusal& why) noexcept;
    Status map_twice(MemoryBlock place) noexcept;
    Status map_plainly(MemoryBlock place) noexcept;
    void list(const LiveImageOptions& options) noexcept;

    os::MemoryObject object_;
    // One of them has the addresses, and outlives the mapping within.
    os::Reservation plain_;
    Stream stream_;
    os::Mapping live_mapping_;
    os::Mapping alias_mapping_;
    detail::ResetOnMove<MemoryBlock> block_;
    MemoryBlock alias_;
    std::array<Segment, kMaxSegments> segments_{};
    std::size_t count_ = 0;
    BlockRegistration listing_;
};

}  // namespace ouro
