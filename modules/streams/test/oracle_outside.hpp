#pragma once

#include <ouro/base/random.hpp>
#include <ouro/streams/state_ring.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include <gtest/gtest.h>

namespace ouro::testing_support {

// Memory outside the image of a ring, some of which is kept with it, in the segment "outside". The copies of
// whole images say what was in it at each tick.
class OracleOutside {
public:
    static constexpr const char* kSegment = "outside";

    // Keeps a range from now on, or no longer.
    void change(StateRing& ring, Random& random) {
        Range& range = ranges_[random.below(kRanges)];
        if (range.is_kept) {
            ASSERT_EQ(ring.release_outside(block(range)).status(), Status::ok);
            ASSERT_EQ(ring.outside_offset(range.bytes.data()).status(), Status::not_found);
            range.is_kept = false;
            return;
        }
        range.bytes.resize(1 + random.below(kMostBytes));
        ASSERT_EQ(ring.keep_outside(kSegment, block(range)).status(), Status::ok);
        ASSERT_EQ(ring.keep_outside(kSegment, block(range)).status(), Status::address_in_use);
        const auto offset = ring.outside_offset(range.bytes.data());
        ASSERT_TRUE(offset);
        range.offset = static_cast<std::size_t>(*offset);
        range.since = ring.newest() + 1;
        range.is_kept = true;
        expect_place(ring, range);
    }

    void write(Random& random) {
        Range& range = ranges_[random.below(kRanges)];
        if (range.bytes.empty()) return;
        const auto size = static_cast<std::uint32_t>(range.bytes.size());
        const std::uint32_t at = random.below(size);
        const std::uint32_t bytes = 1 + random.below(random.below(3) == 0 ? size - at : 1);
        std::memset(&range.bytes[at], static_cast<int>(random.below(256)), bytes);
    }

    // As a simulation does that is repeated: what is outside becomes what the tick has of it.
    void become(std::span<const std::byte> image) {
        for (Range& range : ranges_)
            if (range.is_kept) std::memcpy(range.bytes.data(), &image[range.offset], range.bytes.size());
    }

    // After a commit: the image has it.
    void expect_kept(std::span<const std::byte> image) const {
        for (const Range& range : ranges_)
            ASSERT_TRUE(!range.is_kept || is_in(image, range));
    }
    // The same of those alone that the tick has.
    void expect_kept_since(std::span<const std::byte> image, Tick tick) const {
        for (const Range& range : ranges_)
            ASSERT_TRUE(!range.is_kept || range.since > tick || is_in(image, range));
    }

    // Before going back, and after it: what the tick has is there again, and all else is as it was. What it
    // does not have the next one will.
    void remember() {
        for (Range& range : ranges_)
            range.before = range.bytes;
    }
    void expect_back(std::span<const std::byte> image, Tick tick) {
        for (Range& range : ranges_) {
            const bool has_it = range.is_kept && range.since <= tick;
            ASSERT_TRUE(has_it ? is_in(image, range) : range.bytes == range.before);
            if (!has_it) range.since = tick + 1;
        }
    }

private:
    static constexpr std::uint32_t kRanges = 5;
    static constexpr std::uint32_t kMostBytes = 5000;

    struct Range {
        std::vector<std::byte> bytes{};
        std::vector<std::byte> before{};
        std::size_t offset = 0;
        Tick since = 0;
        bool is_kept = false;
    };

    static MemoryBlock block(Range& range) { return {range.bytes.data(), range.bytes.size()}; }
    static bool is_in(std::span<const std::byte> image, const Range& range) {
        return std::memcmp(&image[range.offset], range.bytes.data(), range.bytes.size()) == 0;
    }

    // In its segment, and in no other's place.
    void expect_place(const StateRing& ring, const Range& range) const {
        const MemoryBlock segment = *ring.segment_block(kSegment);
        ASSERT_TRUE(segment.contains(MemoryBlock{ring.image().data + range.offset, range.bytes.size()}));
        for (const Range& other : ranges_) {
            if (&other == &range || !other.is_kept) continue;
            ASSERT_TRUE(range.offset + range.bytes.size() <= other.offset ||
                        other.offset + other.bytes.size() <= range.offset);
        }
    }

    std::array<Range, kRanges> ranges_;
};

}  // namespace ouro::testing_support
