#pragma once

#include <ouro/base/hash.hpp>
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

// Bytes that do not count in hashes, as a list, and what the hash of a whole image is with them.
class OracleMasks {
public:
    // Masks some bytes anywhere, or gives one up.
    void change(StateRing& ring, Random& random) {
        if (masks_.size() == kMost || (!masks_.empty() && random.below(3) == 0)) return remove(ring, random);
        const auto all = static_cast<std::uint32_t>(ring.image().size - kSegmentAlignment);
        const std::uint32_t bytes = 1 + random.below(random.below(3) == 0 ? 9000 : 60);
        // Where most is written, or anywhere; never in the header.
        const std::uint32_t space = random.below(3) == 0 ? all : 20'000U;
        // Now and then one that there was before.
        const bool again = removed_.bytes != 0 && random.below(3) == 0;
        const Mask mask = again ? removed_ : Mask{kSegmentAlignment + random.below(space - bytes), bytes};
        const bool overlaps = std::ranges::any_of(masks_, [&](const Mask& each) {
            return mask.offset < each.offset + each.bytes && each.offset < mask.offset + mask.bytes;
        });
        const Status wanted = overlaps ? Status::address_in_use : Status::ok;
        ASSERT_EQ(ring.mask(ring.image().data + mask.offset, mask.bytes).status(), wanted);
        if (!overlaps) masks_.push_back(mask);
        ASSERT_TRUE(overlaps || ring.is_masked(mask.offset + mask.bytes - 1));
    }

    [[nodiscard]] std::uint64_t hash(std::span<const std::byte> image) const {
        std::uint64_t sum = 0;
        for (std::size_t at = 0; at < image.size(); at += kStatePageBytes)
            sum += page_hash(image.subspan(at, kStatePageBytes), at);
        return sum;
    }

private:
    static constexpr std::size_t kMost = 8;

    struct Mask {
        std::size_t offset = 0;
        std::size_t bytes = 0;
    };
    using Page = std::array<std::byte, kStatePageBytes>;

    void remove(StateRing& ring, Random& random) {
        const std::uint32_t index = random.below(static_cast<std::uint32_t>(masks_.size()));
        const Mask mask = masks_[index];
        const std::byte* const at = ring.image().data + mask.offset;
        ASSERT_EQ(ring.unmask(at, mask.bytes + 1).status(), Status::not_found);
        ASSERT_EQ(ring.unmask(at, mask.bytes).status(), Status::ok);
        ASSERT_FALSE(ring.is_masked(mask.offset));
        masks_.erase(masks_.begin() + static_cast<std::ptrdiff_t>(index));
        removed_ = mask;
    }

    // Of a page of zeros it is zero.
    [[nodiscard]] std::uint64_t page_hash(std::span<const std::byte> page, std::size_t offset) const {
        static constexpr Page kZeros{};
        Page rest;
        const std::byte* bytes = page.data();
        for (const Mask& mask : masks_) {
            if (mask.offset >= offset + kStatePageBytes || mask.offset + mask.bytes <= offset) continue;
            if (bytes != rest.data()) std::ranges::copy(page, rest.begin());
            bytes = rest.data();
            const std::size_t begin = std::max(mask.offset, offset) - offset;
            const std::size_t end = std::min(mask.offset + mask.bytes, offset + kStatePageBytes) - offset;
            std::memset(rest.data() + begin, 0, end - begin);
        }
        if (std::memcmp(bytes, kZeros.data(), kStatePageBytes) == 0) return 0;
        return hash_bytes(bytes, kStatePageBytes, offset / kStatePageBytes);
    }

    std::vector<Mask> masks_;
    Mask removed_;
};

}  // namespace ouro::testing_support
