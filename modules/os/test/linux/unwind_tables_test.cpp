// Real tables, and real tables that were changed: whatever they say, nothing outside of them is read. The
// copies end where their memory does, so that sanitizers see one byte too many.
#include "linux/x86/unwind_tables.hpp"

#include "linux/x86/code_object.hpp"

#include <ouro/base/random.hpp>

#include <cstdlib>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

namespace {

namespace os = ouro::os;
using os::FrameKind;

const os::CodeObject* object_around(os::ObjectsOnTheWay& objects, const void* address) {
    return objects.find(reinterpret_cast<std::uintptr_t>(address));
}

// A copy of the C library's tables, with nothing before and nothing after them.
class CopiedTables {
public:
    CopiedTables() {
        os::ObjectsOnTheWay objects;
        // A function that programs do not have a copy of.
        const os::CodeObject* const object =
            object_around(objects, reinterpret_cast<const void*>(&std::qsort));
        if (object == nullptr) return;
        const os::UnwindTables all = os::tables_of(*object);
        if (all.bytes.empty()) return;
        start_ = all.index;
        bytes_.assign(all.bytes.begin() + static_cast<std::ptrdiff_t>(all.index - all.address),
                      all.bytes.end());
        original_ = all;
    }

    [[nodiscard]] const os::UnwindTables& original() const { return original_; }
    [[nodiscard]] std::vector<std::byte>& bytes() { return bytes_; }
    [[nodiscard]] os::UnwindTables tables() const {
        return {.bytes = bytes_, .address = start_, .index = start_};
    }

    [[nodiscard]] std::int32_t number_at(std::size_t offset) const {
        std::int32_t number = 0;
        if (offset + sizeof(number) <= bytes_.size())
            std::memcpy(&number, bytes_.data() + offset, sizeof(number));
        return number;
    }
    // The index: a head of three words, the last of which is the count, and pairs of numbers.
    [[nodiscard]] std::size_t count() const { return static_cast<std::size_t>(number_at(8)); }
    [[nodiscard]] std::uint64_t function(std::size_t i) const {
        return start_ + static_cast<std::uint64_t>(std::int64_t{number_at(12 + 8 * i)});
    }
    [[nodiscard]] std::size_t entry(std::size_t i) const {
        return static_cast<std::size_t>(number_at(16 + 8 * i));
    }

private:
    os::UnwindTables original_;
    std::uint64_t start_ = 0;
    std::vector<std::byte> bytes_;
};

TEST(UnwindTables, SayTheSameInACopy) {
    CopiedTables copy;
    ASSERT_GT(copy.count(), 1000U);
    std::size_t called = 0;
    std::size_t saved = 0;
    for (std::size_t i = 0; i < copy.count(); ++i) {
        for (std::uint64_t distance = 0; distance < 40; distance += 7) {
            const std::uint64_t address = copy.function(i) + distance;
            const os::FrameRule rule = os::find_frame_rule(copy.tables(), address);
            ASSERT_EQ(rule, os::find_frame_rule(copy.original(), address)) << i;
            called += rule.kind == FrameKind::called;
            saved += rule.saved_frame != 0;
        }
    }
    // Nearly all there is, of which many begin by saving registers.
    EXPECT_GT(called, copy.count() * 5);
    EXPECT_GT(saved, copy.count() / 4);
}

TEST(UnwindTables, AreSilentAboutOtherAddresses) {
    CopiedTables copy;
    ASSERT_GT(copy.count(), 1000U);
    EXPECT_EQ(os::find_frame_rule(copy.tables(), 0).kind, FrameKind::outermost);
    EXPECT_EQ(os::find_frame_rule(copy.tables(), ~std::uint64_t{0}).kind, FrameKind::outermost);
    EXPECT_EQ(os::find_frame_rule({}, copy.function(0)).kind, FrameKind::unsupported);
    // An index far away from its memory.
    os::UnwindTables tables = copy.tables();
    tables.index = 8;
    EXPECT_EQ(os::find_frame_rule(tables, copy.function(0)).kind, FrameKind::unsupported);
    tables.index = ~std::uint64_t{0} - 4;
    EXPECT_EQ(os::find_frame_rule(tables, copy.function(0)).kind, FrameKind::unsupported);
}

bool is_well_formed(const os::FrameRule& rule) {
    if (rule.kind == FrameKind::unknown || rule != os::FrameRule::from_bits(rule.to_bits())) return false;
    return rule.kind != FrameKind::called || rule.offset != 0 || rule.end == os::FrameEnd::saved_in_frame;
}

TEST(UnwindTables, ThatWereChangedAreReadInsideOnly) {
    constexpr std::uint64_t kSeed = 5;
    CopiedTables copy;
    ASSERT_GT(copy.count(), 1000U);
    const std::vector<std::byte> original = copy.bytes();
    const std::uint64_t rounds = std::getenv("OURO_TEST_LONG") != nullptr ? 20'000'000 : 200'000;
    std::size_t changed = 0;
    for (std::uint64_t round = 0; round < rounds; ++round) {
        const auto draw = [&](std::uint64_t number) { return ouro::random_at(kSeed, round, number); };
        const std::size_t function = draw(0) % copy.count();
        const std::uint64_t address = copy.function(function) + draw(1) % 64;
        const std::size_t entry = copy.entry(function);
        const std::size_t common = entry + 4 - static_cast<std::size_t>(copy.number_at(entry + 4));
        const os::FrameRule before = os::find_frame_rule(copy.tables(), address);
        // The head, the pair of the function, its entry, or what that shares with others.
        const std::size_t parts[] = {0, 12 + 8 * function, entry, entry, common, common};
        const std::size_t part = parts[draw(2) % std::size(parts)];
        std::vector<std::size_t> places;
        for (std::uint64_t change = 0; change < 1 + draw(3) % 4; ++change) {
            const std::size_t place = (part + draw(10 + change) % 40) % original.size();
            const auto value = draw(20 + change);
            // Bits, and bytes with a meaning of their own: the largest, the smallest, no end.
            constexpr std::array<std::uint8_t, 4> kOdd{0xFF, 0x00, 0x80, 0x7F};
            copy.bytes()[place] = value % 3 == 0 ? std::byte{kOdd[value / 3 % 4]}
                                                 : copy.bytes()[place] ^ std::byte(1U << (value / 3 % 8));
            places.push_back(place);
        }
        const os::FrameRule rule = os::find_frame_rule(copy.tables(), address);
        ASSERT_TRUE(is_well_formed(rule)) << "seed " << kSeed << ", round " << round;
        changed += rule != before;
        for (const std::size_t place : places)
            copy.bytes()[place] = original[place];
    }
    // The changes hit what matters.
    EXPECT_GT(changed, rounds / 20);
}

TEST(UnwindTables, ThatWereCutAreReadInsideOnly) {
    constexpr std::uint64_t kSeed = 6;
    CopiedTables copy;
    ASSERT_GT(copy.count(), 1000U);
    for (std::uint64_t round = 0; round < 300; ++round) {
        const std::size_t function = ouro::random_at(kSeed, round, 0) % copy.count();
        const std::size_t entry = copy.entry(function);
        std::size_t end = entry + ouro::random_at(kSeed, round, 1) % 48;
        if (round % 8 == 0) end = round / 8;
        const std::vector<std::byte> cut(copy.bytes().begin(),
                                         copy.bytes().begin() + static_cast<std::ptrdiff_t>(end));
        const os::UnwindTables tables{
            .bytes = cut, .address = copy.tables().address, .index = copy.tables().index};
        EXPECT_TRUE(is_well_formed(os::find_frame_rule(tables, copy.function(function) + round % 32)))
            << "seed " << kSeed << ", round " << round;
    }
}

TEST(UnwindTables, OfNoiseAreReadInsideOnly) {
    constexpr std::uint64_t kSeed = 8;
    for (std::uint64_t round = 0; round < 20'000; ++round) {
        std::vector<std::byte> noise(16 + ouro::random_at(kSeed, round, 0) % 300);
        for (std::size_t i = 0; i < noise.size(); ++i)
            noise[i] = std::byte(ouro::random_at(kSeed, round, i + 1) & (round % 2 == 0 ? 0xFF : 0x1F));
        // As an index begins, or nothing would be read; one pair, which leads into the noise.
        constexpr std::array<std::uint8_t, 16> kHead{1, 0x1B, 0x03, 0x3B, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0};
        std::memcpy(noise.data(), kHead.data(), kHead.size());
        if (noise.size() >= 32) noise[16] = std::byte(20), noise[17] = noise[18] = noise[19] = std::byte(0);
        EXPECT_TRUE(is_well_formed(
            os::find_frame_rule({.bytes = noise, .address = 4096, .index = 4096}, 4096 + round)))
            << "seed " << kSeed << ", round " << round;
    }
}

std::vector<std::byte> first_page_of(const os::CodeObject& object) {
    const auto* const start = reinterpret_cast<const std::byte*>(object.start);
    return {start, start + 4096};
}

TEST(CodeObject, IsFoundWithItsTablesAndItsBuildId) {
    os::ObjectsOnTheWay objects;
    const os::CodeObject* const library = object_around(objects, reinterpret_cast<const void*>(&std::qsort));
    ASSERT_NE(library, nullptr);
    EXPECT_EQ(library->program, nullptr);
    EXPECT_NE(library->identity, 0U);
    const std::vector<std::byte> page = first_page_of(*library);
    EXPECT_EQ(os::build_id_at(page, os::find_build_id(page)).size(), 20U);
    EXPECT_EQ(os::tables_of_library(*library, page).bytes.data(), os::tables_of(*library).bytes.data());

    const auto own = reinterpret_cast<std::uintptr_t>(&first_page_of);
    const os::CodeObject* const program = objects.find(own);
    ASSERT_NE(program, nullptr);
    EXPECT_NE(program->program, nullptr);
    EXPECT_NE(program->identity, 0U);
    EXPECT_EQ(os::find_frame_rule(tables_of(*program), own).kind, FrameKind::called);
    EXPECT_EQ(objects.find(8), nullptr);
    int on_the_stack = 0;
    EXPECT_EQ(object_around(objects, &on_the_stack), nullptr);
}

TEST(CodeObject, WithHeadersThatWereChangedIsReadInsideOnly) {
    constexpr std::uint64_t kSeed = 9;
    os::ObjectsOnTheWay objects;
    const os::CodeObject* const library = object_around(objects, reinterpret_cast<const void*>(&std::qsort));
    ASSERT_NE(library, nullptr);
    const std::vector<std::byte> original = first_page_of(*library);
    std::vector<std::byte> page = original;
    for (std::uint64_t round = 0; round < 100'000; ++round) {
        const auto draw = [&](std::uint64_t number) { return ouro::random_at(kSeed, round, number); };
        for (std::uint64_t change = 0; change < 1 + draw(0) % 6; ++change)
            page[draw(10 + change) % 1000] =
                std::byte(draw(20 + change) % 4 == 0 ? 0xFF : draw(30 + change) & 0xFF);
        const os::UnwindTables tables = os::tables_of_library(*library, page);
        if (!tables.bytes.empty()) {
            EXPECT_GE(tables.address, library->start);
            EXPECT_LE(tables.bytes.size(), library->end - tables.address);
        }
        const auto id = os::build_id_at(page, os::find_build_id(page));
        EXPECT_LE(id.size(), page.size()) << "seed " << kSeed << ", round " << round;
        page = original;
    }
}

}  // namespace
