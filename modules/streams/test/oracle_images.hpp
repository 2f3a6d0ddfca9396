#pragma once

#include <ouro/base/random.hpp>
#include <ouro/streams/image_file.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace ouro::testing_support {

inline void expect_pages(std::span<const std::byte> bytes, std::span<const std::byte> wanted, Tick tick) {
    ASSERT_EQ(bytes.size(), wanted.size());
    for (std::size_t at = 0; at < wanted.size(); at += kStatePageBytes)
        ASSERT_EQ(std::memcmp(&bytes[at], &wanted[at], kStatePageBytes), 0)
            << "tick " << tick << ", page " << at / kStatePageBytes;
}

// Ticks that were saved, as bytes, each beside what the whole image was then.
class OracleImages {
public:
    using Bytes = std::vector<std::byte>;

    void save(const TickView& view, const Bytes& image, Random& random) {
        Saved& saved = saved_[random.below(kMost)];
        saved = {.file = {}, .image = image};
        const ImageCodec codec = random.below(2) == 0 ? ImageCodec::raw : ImageCodec::words;
        const auto info = write_image(view, {.write = append, .context = &saved.file}, codec);
        ASSERT_TRUE(info) << status_name(info.status());
        ASSERT_EQ(info->tick, view.tick());
    }

    // True when the image became what was saved, of the portable segments; then so do the given bytes, which
    // are those of the image. False when nothing was to be loaded, or what was damaged was refused.
    bool load(StateRing& ring, Random& random, Bytes& image) {
        const Saved& saved = saved_[random.below(kMost)];
        if (saved.file.empty()) return false;
        if (random.below(3) == 0) {
            load_damaged(ring, random, saved.file);
            return false;
        }
        const std::span<const std::byte> file = saved.file;
        const Tick before = ring.newest();
        const auto tick = read_image(ring, image_source(file));
        EXPECT_TRUE(tick) << status_name(tick.status());
        if (!tick) return false;
        EXPECT_EQ(*tick, before + 2);
        ++loads_;
        for (const Segment& segment : ring.segments()) {
            if (segment.kind != SegmentKind::portable) continue;
            const auto from = saved.image.begin() + static_cast<std::ptrdiff_t>(segment.offset);
            std::copy(from, from + static_cast<std::ptrdiff_t>(segment.bytes),
                      image.begin() + static_cast<std::ptrdiff_t>(segment.offset));
        }
        return true;
    }

    [[nodiscard]] std::uint64_t loads() const { return loads_; }

private:
    static constexpr std::uint32_t kMost = 3;

    struct Saved {
        Bytes file;
        Bytes image;
    };

    static Status append(void* file, std::span<const std::byte> bytes) noexcept {
        auto& to = *static_cast<Bytes*>(file);
        to.insert(to.end(), bytes.begin(), bytes.end());
        return Status::ok;
    }

    // Cut off anywhere, or with another bit anywhere.
    static void load_damaged(StateRing& ring, Random& random, Bytes file) {
        const std::uint32_t at = random.below(static_cast<std::uint32_t>(file.size()));
        if (random.below(2) == 0)
            file.resize(at);
        else
            file[at] ^= std::byte{1} << random.below(8);
        const std::span<const std::byte> bytes = file;
        const Status status = read_image(ring, image_source(bytes)).status();
        EXPECT_TRUE(status == Status::corrupt_data || status == Status::wrong_format ||
                    status == Status::wrong_layout)
            << status_name(status) << " at byte " << at;
    }

    std::array<Saved, kMost> saved_;
    std::uint64_t loads_ = 0;
};

}  // namespace ouro::testing_support
