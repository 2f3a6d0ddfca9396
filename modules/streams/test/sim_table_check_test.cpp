// Images of others are checked before they are believed: in time, whatever is in them.
#include <ouro/streams/sim_map.hpp>

#include <array>
#include <bit>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace ouro {
namespace {

// An image that somebody made up: every hash leads to a few slots at the front, so that each way there is
// long. Looking along all of them would take hours.
class CraftedTable {
public:
    using Table = SimMap<std::uint64_t, std::uint32_t>;
    using Layout = detail::SimTableLayout<Table::Entry>;
    static constexpr std::uint32_t kSlots = 1U << 20;
    static constexpr std::uint32_t kCount = Layout::capacity_of(kSlots);
    static constexpr std::uint32_t kHomes = 1U << 14;
    static constexpr std::uint32_t kAt = 4096;

    CraftedTable() : image_(kAt + Layout::bytes_of(kSlots)) {
        std::vector<std::vector<std::uint64_t>> keys(kHomes);
        std::uint32_t found = 0;
        for (std::uint64_t key = 0; found < kCount; ++key) {
            const std::uint32_t home = detail::sim_hash(key) & (kSlots - 1);
            if (home >= kHomes) continue;
            keys[home].push_back(key);
            ++found;
        }
        std::uint32_t entry = 0;
        for (const auto& each : keys)
            for (const std::uint64_t key : each) {
                entries()[entry].key = key;
                slots()[entry] = detail::slot_of(detail::sim_hash(key), entry);
                set_bits(live(), entry++, 1);
            }
        header_ = {kAt, kCount, kCount, kSlots};
    }
    [[nodiscard]] Status check() const {
        return std::bit_cast<Table>(header_).check(ConstOffsetBase(image_.data(), image_.size()));
    }
    [[nodiscard]] std::uint64_t* slots() { return reinterpret_cast<std::uint64_t*>(image_.data() + kAt); }

private:
    [[nodiscard]] std::span<std::uint64_t> live() {
        return {reinterpret_cast<std::uint64_t*>(image_.data() + kAt + Layout::live_at(kSlots)),
                words_for_bits(kCount)};
    }
    [[nodiscard]] Table::Entry* entries() {
        return reinterpret_cast<Table::Entry*>(image_.data() + kAt + Layout::entries_at(kSlots));
    }

    std::vector<std::byte> image_;
    std::array<std::uint32_t, 4> header_{};
};

TEST(SimTableCheck, ATableMadeToBeSlowIsCheckedInTimeAllTheSame) {
    CraftedTable crafted;
    ASSERT_EQ(crafted.check(), Status::ok);
    // Two of one home: one entry is named twice, the other never.
    std::uint64_t* const slots = crafted.slots();
    const std::uint64_t second = slots[1];
    ASSERT_EQ(detail::hash_of_slot(slots[0]) % CraftedTable::kSlots,
              detail::hash_of_slot(second) % CraftedTable::kSlots);
    slots[1] = slots[0];
    EXPECT_EQ(crafted.check(), Status::corrupt_data);
    slots[1] = second;
    ASSERT_EQ(crafted.check(), Status::ok);
    // The same far from each other, and a gap on the way.
    std::uint64_t& last = slots[CraftedTable::kCount - 1];
    std::swap(slots[CraftedTable::kCount], last);
    EXPECT_EQ(crafted.check(), Status::corrupt_data);
    std::swap(slots[CraftedTable::kCount], last);
    EXPECT_EQ(crafted.check(), Status::ok);
}

}  // namespace
}  // namespace ouro
