// Large blocks have a mapping of their own, which grows with its pages: they are neither copied nor touched
// again.
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace {

constexpr std::size_t kBytes = std::size_t{256} << 20;
constexpr std::size_t kPage = 4096;
// Pages of all sizes: where the system has huge ones, a copy takes one fault for each of 2 MiB.
constexpr long kFewFaults = 64;

long faults_so_far() {
    rusage usage{};
    EXPECT_EQ(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_minflt;
}

// The most bytes that were ever resident.
std::size_t peak_bytes() {
    rusage usage{};
    EXPECT_EQ(getrusage(RUSAGE_SELF, &usage), 0);
    return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
}

// Reads a byte of each page.
bool is_filled(const unsigned char* block, unsigned char value) {
    for (std::size_t at = 0; at < kBytes; at += kPage)
        if (block[at] != value) return false;
    return true;
}

struct Cost {
    long faults = 0;
    std::size_t peak_bytes = 0;
};

// Of growing the block, and of reading all that it held.
template <class Grow>
Cost cost_of(unsigned char*& block, Grow grow) {
    const long faults = faults_so_far();
    const std::size_t peak = peak_bytes();
    block = grow(block);
    EXPECT_NE(block, nullptr);
    EXPECT_TRUE(block != nullptr && is_filled(block, 0x5A));
    return {faults_so_far() - faults, peak_bytes() - peak};
}

unsigned char* filled_block() {
    auto* const block = static_cast<unsigned char*>(malloc(kBytes));
    EXPECT_NE(block, nullptr);
    if (block != nullptr) std::memset(block, 0x5A, kBytes);
    return block;
}

TEST(MallocGrowth, ALargeBlockKeepsItsPages) {
    unsigned char* block = filled_block();
    ASSERT_NE(block, nullptr);
    const auto grow_to = [](std::size_t bytes) {
        return [bytes](unsigned char* old) { return static_cast<unsigned char*>(realloc(old, bytes)); };
    };
    for (const std::size_t bytes : {kBytes + kBytes / 2, 2 * kBytes, 4 * kBytes}) {
        const Cost cost = cost_of(block, grow_to(bytes));
        EXPECT_LT(cost.faults, kFewFaults) << bytes;
        EXPECT_LT(cost.peak_bytes, kBytes / 4) << bytes;
    }
    free(block);
}

// Whether it can stay at its addresses or must move to others.
TEST(MallocGrowth, AlsoWhereAnotherMappingIsInTheWay) {
    unsigned char* block = filled_block();
    ASSERT_NE(block, nullptr);
    // As many as it takes to have one right behind or in front of it.
    void* const others[] = {malloc(kBytes), malloc(kBytes), malloc(kBytes)};
    const Cost cost = cost_of(
        block, [](unsigned char* old) { return static_cast<unsigned char*>(realloc(old, 3 * kBytes)); });
    EXPECT_LT(cost.faults, kFewFaults);
    EXPECT_LT(cost.peak_bytes, kBytes / 4);
    free(block);
    for (void* const other : others)
        free(other);
}

// A block of the heap's units, grown beyond them: the first bytes are stamped, all behind them is zero.
constexpr std::size_t kUnitsBytes = std::size_t{24} << 20;

bool is_stamped(const unsigned char* block, std::size_t stamped, std::size_t bytes) {
    for (std::size_t at = 0; at < bytes; at += kPage)
        if (block[at] != (at < stamped ? 1 + at / kPage % 251 : 0)) return false;
    return true;
}

TEST(MallocGrowth, ABlockOfUnitsTakesItsPagesAlong) {
    auto* block = static_cast<unsigned char*>(malloc(kUnitsBytes));
    ASSERT_NE(block, nullptr);
    for (std::size_t at = 0; at < kUnitsBytes; at += kPage)
        block[at] = static_cast<unsigned char>(1 + at / kPage % 251);
    // Beyond the units, within the room it got, and beyond that.
    for (const std::size_t factor : {2U, 3U, 4U, 9U, 20U}) {
        const long faults = faults_so_far();
        const std::size_t peak = peak_bytes();
        block = static_cast<unsigned char*>(realloc(block, factor * kUnitsBytes));
        ASSERT_NE(block, nullptr);
        ASSERT_TRUE(is_stamped(block, kUnitsBytes, kUnitsBytes));
        EXPECT_LT(faults_so_far() - faults, kFewFaults) << factor;
        EXPECT_LT(peak_bytes() - peak, kUnitsBytes / 4) << factor;
    }
    // What it left is there for others, and zero.
    auto* const other = static_cast<unsigned char*>(calloc(1, kUnitsBytes));
    ASSERT_NE(other, nullptr);
    EXPECT_TRUE(is_stamped(other, 0, kUnitsBytes));
    std::memset(other, 1, kUnitsBytes);
    EXPECT_TRUE(is_stamped(block, kUnitsBytes, 20 * kUnitsBytes));
    free(other);
    // Smaller again, and away.
    block = static_cast<unsigned char*>(realloc(block, 2 * kUnitsBytes));
    ASSERT_NE(block, nullptr);
    EXPECT_TRUE(is_stamped(block, kUnitsBytes, 2 * kUnitsBytes));
    block = static_cast<unsigned char*>(realloc(block, kPage));
    ASSERT_NE(block, nullptr);
    EXPECT_TRUE(is_stamped(block, kPage, kPage));
    free(block);
}

// Two that grow by turns are in each other's way.
TEST(MallocGrowth, TwoBlocksThatGrowByTurnsAreSeldomCopied) {
    constexpr std::size_t kStep = std::size_t{64} << 10;
    unsigned char* blocks[2] = {};
    unsigned moves = 0;
    for (std::size_t bytes = kStep; bytes <= kUnitsBytes; bytes += kStep) {
        for (unsigned char*& block : blocks) {
            auto* const larger = static_cast<unsigned char*>(realloc(block, bytes));
            ASSERT_NE(larger, nullptr);
            moves += larger != block ? 1 : 0;
            block = larger;
            block[bytes - kStep] = static_cast<unsigned char>(bytes / kStep % 251);
        }
    }
    // By a quarter each time; the steps are 768.
    EXPECT_LT(moves, 100U);
    for (unsigned char* const block : blocks) {
        for (std::size_t bytes = kStep; bytes <= kUnitsBytes; bytes += kStep)
            ASSERT_EQ(block[bytes - kStep], bytes / kStep % 251);
        free(block);
    }
}

// What the first would see if it did copy.
TEST(MallocGrowth, ACopyWouldBeSeen) {
    unsigned char* block = filled_block();
    ASSERT_NE(block, nullptr);
    const Cost cost = cost_of(block, [](unsigned char* old) {
        auto* const copy = static_cast<unsigned char*>(malloc(2 * kBytes));
        if (copy != nullptr) std::memcpy(copy, old, kBytes);
        free(old);
        return copy;
    });
    EXPECT_GE(cost.faults, kFewFaults);
    free(block);
}

}  // namespace
