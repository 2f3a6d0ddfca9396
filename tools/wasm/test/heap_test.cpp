#include "workers.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

#include <gtest/gtest.h>

namespace {

struct Piece {
    unsigned char* at;
    std::size_t bytes;
    unsigned char fill;
};

// A small generator with a fixed start, so that every run does the same.
class Dice {
public:
    explicit Dice(std::uint32_t seed) : state_(seed) {}
    std::uint32_t roll(std::uint32_t sides) {
        state_ = state_ * 1664525u + 1013904223u;
        return (state_ >> 8) % sides;
    }

private:
    std::uint32_t state_;
};

bool is_intact(const Piece& piece) {
    for (std::size_t i = 0; i < piece.bytes; ++i) {
        if (piece.at[i] != piece.fill) return false;
    }
    return true;
}

int churn(std::uint32_t seed) {
    Dice dice(seed);
    std::vector<Piece> pieces;
    int damaged = 0;
    for (int step = 0; step < 3'000; ++step) {
        if (pieces.size() < 50 || dice.roll(2) == 0) {
            const std::size_t bytes = dice.roll(dice.roll(20) == 0 ? 100'000 : 300);
            auto* at = static_cast<unsigned char*>(::operator new(bytes));
            const Piece piece{at, bytes, static_cast<unsigned char>(dice.roll(256))};
            std::memset(at, piece.fill, bytes);
            pieces.push_back(piece);
        } else {
            const std::size_t victim = dice.roll(static_cast<std::uint32_t>(pieces.size()));
            damaged += is_intact(pieces[victim]) ? 0 : 1;
            ::operator delete(pieces[victim].at);
            pieces[victim] = pieces.back();
            pieces.pop_back();
        }
    }
    for (const Piece& piece : pieces) {
        damaged += is_intact(piece) ? 0 : 1;
        ::operator delete(piece.at);
    }
    return damaged;
}

TEST(Heap, BlocksOfSeveralThreadsDoNotOverlap) {
    std::atomic<int> damaged{0};
    ASSERT_EQ(Workers::run(4, [&](int index) { damaged += churn(static_cast<std::uint32_t>(index) + 1); }),
              0);
    EXPECT_EQ(damaged.load(), 0);
}

TEST(Heap, AlignmentIsKept) {
    for (std::size_t align = 1; align <= 4096; align *= 2) {
        void* block = ::operator new(33, std::align_val_t(align));
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % align, 0u) << align;
        std::memset(block, 1, 33);
        ::operator delete(block, std::align_val_t(align));
    }
}

TEST(Heap, FreedMemoryIsUsedAgain) {
    const std::size_t before = __builtin_wasm_memory_size(0);
    for (int i = 0; i < 2'000; ++i)
        ::operator delete(::operator new(1 << 20));
    EXPECT_LE(__builtin_wasm_memory_size(0), before + 64);
}

TEST(Heap, TooLargeRequestsAreRefused) {
    EXPECT_EQ(std::malloc(SIZE_MAX), nullptr);
    EXPECT_EQ(::operator new(std::size_t{3} << 30, std::nothrow), nullptr);
    EXPECT_EQ(std::calloc(SIZE_MAX, 2), nullptr);
}

TEST(Heap, ReallocKeepsTheContents) {
    auto* text = static_cast<char*>(std::malloc(6));
    std::memcpy(text, "hello", 6);
    text = static_cast<char*>(std::realloc(text, 60'000));
    EXPECT_STREQ(text, "hello");
    std::free(text);
}

}  // namespace
