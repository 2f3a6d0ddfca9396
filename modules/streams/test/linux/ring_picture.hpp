#pragma once

#include <ouro/base/hash.hpp>
#include <ouro/streams/state_ring.hpp>

#include <array>
#include <cstdint>

#include <gtest/gtest.h>

namespace ouro::testing_support {

// All that can be seen of a ring: its image, which ticks it has, what can be read in them, and their hashes.
// Without memory of its own, so that taking one changes no mappings.
struct RingPicture {
    static constexpr std::size_t kMaxTicks = 32;

    struct Past {
        Status status = Status::ok;
        std::uint64_t bytes = 0;
        std::uint64_t portable = 0;
        std::uint64_t process_bound = 0;

        friend bool operator==(const Past&, const Past&) = default;
    };

    Tick oldest = 0;
    Tick newest = 0;
    std::uint64_t image = 0;
    std::array<Past, kMaxTicks> past{};

    friend bool operator==(const RingPicture&, const RingPicture&) = default;
};

inline RingPicture::Past picture_of(const StateRing& ring, Tick tick) {
    RingPicture::Past past;
    const auto view = ring.view(tick);
    past.status = view.status();
    const auto pages = static_cast<std::uint32_t>(ring.image().size >> kStatePageShift);
    for (std::uint32_t page = 0; view && page < pages; ++page)
        past.bytes = past.bytes * 31 + hash_bytes(view->page(page), kStatePageBytes, page);
    past.portable = ring.hash(tick).value_or(0);
    past.process_bound = ring.hash(tick, SegmentKind::process_bound).value_or(0);
    return past;
}

inline RingPicture picture_of(const StateRing& ring) {
    RingPicture picture;
    picture.oldest = ring.oldest();
    picture.newest = ring.newest();
    picture.image = hash_bytes(ring.image().data, ring.image().size, 0);
    EXPECT_LT(picture.newest, RingPicture::kMaxTicks);
    EXPECT_EQ(ring.check(), Status::ok);
    for (Tick tick = picture.oldest; tick <= picture.newest && tick < RingPicture::kMaxTicks; ++tick)
        picture.past[tick] = picture_of(ring, tick);
    return picture;
}

}  // namespace ouro::testing_support
