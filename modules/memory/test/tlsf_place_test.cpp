// Where an address of a heap lies, beside a list of what was handed out; and in images that are damaged.
#include "tlsf_image.hpp"

#include <ouro/base/random.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::MemoryBlock;
using ouro::Random;
using ouro::Status;
using ouro::TlsfHeap;
using ouro::testing_support::TlsfImage;
using PlaceKind = TlsfHeap::PlaceKind;

constexpr std::size_t kBytes = std::size_t{256} << 10;
constexpr std::size_t kUnit = TlsfHeap::kUnit;

class TlsfPlace : public testing::Test {
protected:
    void run(Random& random, int steps) {
        for (int step = 0; step < steps; ++step) {
            if (held_.empty() || random.below(100) < 55) {
                // Small ones are kept before they are merged.
                const auto block = heap_.allocate(1 + random.below(random.below(3) == 0 ? 5000 : 300));
                if (block) held_.push_back(*block);
                continue;
            }
            std::swap(held_[random.below(static_cast<std::uint32_t>(held_.size()))], held_.back());
            heap_.deallocate(held_.back());
            held_.pop_back();
        }
    }

    // By unit: whether a block has it.
    [[nodiscard]] std::vector<bool> taken() const {
        std::vector<bool> units(kBytes / kUnit);
        for (const MemoryBlock block : held_)
            for (std::size_t at = 0; at < block.size; at += kUnit)
                units[unit_of(block.data + at)] = true;
        return units;
    }
    [[nodiscard]] std::size_t unit_of(const std::byte* address) const {
        return static_cast<std::size_t>(address - image_.memory().data) / kUnit;
    }

    void expect_place(const std::vector<bool>& taken, std::size_t unit) const {
        SCOPED_TRACE("unit " + std::to_string(unit));
        const auto place = TlsfHeap::find_place(image_.memory(), image_.memory().data + unit * kUnit + 5);
        ASSERT_TRUE(place);
        const std::size_t begin = unit_of(place->range.data);
        const std::size_t end = unit_of(place->range.end());
        ASSERT_TRUE(begin <= unit && unit < end);
        if (begin == 0) {
            EXPECT_EQ(place->kind, PlaceKind::control);
            EXPECT_EQ(place->range.size, TlsfHeap::control_bytes(kBytes));
            return;
        }
        EXPECT_EQ(place->kind, taken[unit] ? PlaceKind::blocks : PlaceKind::free);
        const auto is_other = [&](bool each) { return each != taken[unit]; };
        const auto first = taken.begin() + static_cast<std::ptrdiff_t>(begin);
        const auto last = taken.begin() + static_cast<std::ptrdiff_t>(end);
        EXPECT_TRUE(std::none_of(first, last, is_other));
        // Blocks are told up to the free memory on both sides.
        if (place->kind != PlaceKind::blocks) return;
        EXPECT_FALSE(*(first - 1));
        EXPECT_TRUE(last == taken.end() || !*last);
    }

    TlsfImage image_{kBytes};
    TlsfHeap& heap_ = image_.make_heap();
    std::vector<MemoryBlock> held_;
};

TEST_F(TlsfPlace, IsWhatWasHandedOutOrNot) {
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Random random(seed);
        run(random, 400);
        ASSERT_EQ(heap_.check(), Status::ok);
        const std::vector<bool> units = taken();
        for (std::size_t unit = 0; unit < units.size(); unit += 1 + random.below(20))
            expect_place(units, unit);
        if (HasFailure()) return;
    }
}

TEST_F(TlsfPlace, OutsideThereIsNone) {
    std::byte* const data = image_.memory().data;
    EXPECT_EQ(TlsfHeap::find_place(image_.memory(), data - 1).status(), Status::out_of_range);
    EXPECT_EQ(TlsfHeap::find_place(image_.memory(), data + kBytes).status(), Status::out_of_range);
    EXPECT_EQ(TlsfHeap::find_place(image_.memory(), data + kBytes - 1)->kind, PlaceKind::free);
    EXPECT_EQ(TlsfHeap::find_place({data, 100}, data + 50).status(), Status::corrupt_data);
    data[0] = static_cast<std::byte>(~std::to_integer<unsigned>(data[0]));
    EXPECT_EQ(TlsfHeap::find_place(image_.memory(), data + 5000).status(), Status::corrupt_data);
}

// Whatever the bytes say, it comes to an end, and what it tells lies in the image.
TEST_F(TlsfPlace, DamageIsSurvived) {
    Random random(77);
    run(random, 500);
    const std::vector<std::byte> right(image_.memory().begin(), image_.memory().end());
    unsigned damaged = 0;
    for (int round = 0; round < 1500; ++round) {
        SCOPED_TRACE("seed 77, round " + std::to_string(round));
        // Mostly in what the heap keeps of itself.
        const auto control = static_cast<std::uint32_t>(TlsfHeap::control_bytes(kBytes));
        for (int flip = 0; flip < 4; ++flip) {
            const std::uint32_t at = random.below(flip == 3 ? std::uint32_t{kBytes} : control);
            image_.memory().data[at] = static_cast<std::byte>(random.below(256));
        }
        const std::byte* const address = image_.memory().data + random.below(std::uint32_t{kBytes});
        const auto place = TlsfHeap::find_place(image_.memory(), address);
        damaged += place ? 0U : 1U;
        if (place) {
            EXPECT_TRUE(image_.memory().contains(place->range) && place->range.contains(address));
        }
        std::copy(right.begin(), right.end(), image_.memory().data);
    }
    EXPECT_GT(damaged, 0U);
    EXPECT_EQ(heap_.check(), Status::ok);
}

}  // namespace
