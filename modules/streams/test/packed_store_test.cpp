#include "page_copy.hpp"
#include "version_reader.hpp"

#include <ouro/base/random.hpp>

#include <array>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace ouro::detail {
namespace {

constexpr std::uint32_t kSlots = 64;

class PackedStoreTest : public testing::Test {
protected:
    void SetUp() override {
        Carver measure;
        slots_.carve(measure, kSlots);
        packed_.carve(measure, kSlots);
        memory_.resize(static_cast<std::size_t>(measure.used_bytes()) + kStatePageBytes);
        const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
        const std::size_t skip = (kStatePageBytes - address % kStatePageBytes) % kStatePageBytes;
        Carver carver(MemoryBlock{memory_.data() + skip, memory_.size() - skip});
        slots_.carve(carver, kSlots);
        packed_.carve(carver, kSlots);
        const auto taken = slots_.take(kSlots);
        spare_slots_.assign(taken.begin(), taken.end());
        spare_ = {.slots = spare_slots_, .taken = 0};
    }

    std::uint32_t add(std::uint32_t page, const std::vector<std::byte>& bytes) {
        const auto size = static_cast<std::uint16_t>(bytes.size());
        const std::uint32_t word = packed_.append(
            slots_, end_, spare_, {.hash = page, .bytes = size, .packed_bytes = size}, bytes.data());
        if (word != 0) packed_.hold(slots_, word);
        return word;
    }

    // Whether what came out of a record has the hash that a page of this number had.
    static auto is_of(std::uint32_t page) {
        return [page](const PackedRecord& record, const std::byte* bytes) {
            return record.hash == hash_page(bytes, page);
        };
    }

    SlotStore slots_;
    PackedStore packed_;
    PackedStore::End end_;
    PackedStore::Spare spare_;
    std::vector<std::uint32_t> spare_slots_;
    std::vector<std::byte> memory_;
};

// Records of every length lie one behind the other, over the ends of slots too, and give the slots back.
TEST_F(PackedStoreTest, RecordsOfAnyLengthComeBack) {
    Random random(3);
    std::map<std::uint32_t, std::vector<std::byte>> records;
    for (std::uint32_t page = 0;; ++page) {
        std::vector<std::byte> bytes(page % 7 == 0 ? kMaxPackedBytes : random.below(1500));
        for (std::byte& byte : bytes)
            byte = static_cast<std::byte>(random.below(256));
        const std::uint32_t word = add(page, bytes);
        if (word == 0) break;
        ASSERT_TRUE(is_packed(word));
        ASSERT_TRUE(records.emplace(word, bytes).second);
    }
    ASSERT_GT(records.size(), kSlots);
    EXPECT_EQ(packed_.record_count(), records.size());
    std::array<std::byte, kStatePageBytes> room;
    for (const auto& [word, bytes] : records) {
        ASSERT_EQ(PackedStore::record(slots_, word).bytes, bytes.size());
        if (!bytes.empty()) {
            ASSERT_EQ(std::memcmp(packed_.bytes_of(slots_, word, room.data()), bytes.data(), bytes.size()),
                      0);
        }
    }
    EXPECT_EQ(slots_.free_count(), 0U);
    for (const auto& [word, bytes] : records)
        packed_.release(slots_, word);
    EXPECT_EQ(packed_.record_count(), 0U);
    EXPECT_EQ(packed_.record_bytes(), 0U);
    EXPECT_EQ(slots_.free_count(), spare_.taken);
    std::array<std::uint8_t, kSlots + 1> seen{};
    EXPECT_TRUE(slots_.is_sound(seen));
}

TEST_F(PackedStoreTest, ARecordWithoutRoomChangesNothing) {
    spare_.slots = spare_.slots.first(1);
    ASSERT_NE(add(1, std::vector<std::byte>(4000)), 0U);
    const PackedStore::End before = end_;
    EXPECT_EQ(add(2, std::vector<std::byte>(200)), 0U);
    EXPECT_EQ(end_.used, before.used);
    EXPECT_EQ(end_.slot, before.slot);
    EXPECT_NE(add(3, std::vector<std::byte>(16)), 0U);
}

// A difference to a difference to a page; and what is damaged is found out.
TEST_F(PackedStoreTest, VersionsAreReadThroughTheirBases) {
    constexpr std::uint32_t kPage = 9;
    Random random(4);
    std::array<std::array<std::byte, kStatePageBytes>, 4> pages;
    for (std::byte& byte : pages[0])
        byte = static_cast<std::byte>(random.below(256));
    std::array<std::uint32_t, 4> words{};
    for (std::size_t index = 1; index < pages.size(); ++index) {
        pages[index] = pages[index - 1];
        for (int count = 0; count < 50; ++count)
            pages[index][random.below(4096)] = static_cast<std::byte>(random.below(256));
    }
    // The newest stands for itself.
    for (std::size_t index = pages.size(); index-- != 0;) {
        const bool is_newest = index + 1 == pages.size();
        std::array<std::byte, kMaxPackedBytes> bytes;
        const std::size_t size =
            pack_difference(pages[index].data(), is_newest ? nullptr : pages[index + 1].data(), bytes.data());
        const PackedRecord record{
            .hash = hash_page(pages[index].data(), kPage),
            .base_tick = is_newest ? PackedRecord::kNoBase : static_cast<std::uint32_t>(index + 1),
            .bytes = static_cast<std::uint16_t>(size),
            .packed_bytes = static_cast<std::uint16_t>(size)};
        words[index] = packed_.append(slots_, end_, spare_, record, bytes.data());
        ASSERT_NE(words[index], 0U);
    }
    const auto find_base = [&](std::uint32_t tick) { return words[tick]; };
    std::array<std::byte, kStatePageBytes> out;
    for (std::size_t index = 0; index < pages.size(); ++index) {
        ASSERT_TRUE(read_version(slots_, packed_, words[index], out.data(), find_base));
        EXPECT_TRUE(out == pages[index]) << index;
        ASSERT_TRUE(read_version(slots_, packed_, words[index], out.data(), find_base, is_of(kPage)));
        EXPECT_FALSE(read_version(slots_, packed_, words[index], out.data(), find_base, is_of(kPage - 1)));
    }
    const auto no_base = [](std::uint32_t) { return std::uint32_t{0}; };
    EXPECT_FALSE(read_version(slots_, packed_, words[0], out.data(), no_base));
    const auto circle = [&](std::uint32_t) { return words[0]; };
    EXPECT_FALSE(read_version(slots_, packed_, words[0], out.data(), circle));
    // A base that is another version of the same page.
    const auto other_base = [&](std::uint32_t) { return words[3]; };
    EXPECT_TRUE(read_version(slots_, packed_, words[0], out.data(), other_base));
    EXPECT_FALSE(read_version(slots_, packed_, words[0], out.data(), other_base, is_of(kPage)));
    // Back in time, which no record is packed: even without a hash.
    const auto older_base = [&](std::uint32_t tick) { return words[tick == 2 ? 0 : 2]; };
    EXPECT_FALSE(read_version(slots_, packed_, words[1], out.data(), older_base));
}

}  // namespace
}  // namespace ouro::detail
