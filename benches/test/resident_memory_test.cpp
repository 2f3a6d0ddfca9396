#include "memory/resident_memory.hpp"

#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace ouro::bench {
namespace {

constexpr std::size_t kBytes = std::size_t{16} << 20;

// Fresh memory, written to, and never returned: for a child process.
double touch_new_memory() {
    const std::uint64_t before = resident_bytes();
    void* memory = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return -1;
    std::memset(memory, 1, kBytes);
    return static_cast<double>(resident_bytes() - before);
}

TEST(ResidentMemory, CountsWhatIsTouched) {
    const double grown = in_child_process(touch_new_memory);
    EXPECT_GE(grown, static_cast<double>(kBytes));
    EXPECT_LT(grown, static_cast<double>(kBytes) * 1.25);
}

TEST(ResidentMemory, WhatAChildDoesIsGoneWithIt) {
    const std::uint64_t before = resident_bytes();
    (void)in_child_process(touch_new_memory);
    EXPECT_LT(resident_bytes(), before + kBytes / 2);
}

// Holds memory when it is weighed, and none before and after.
void hold_memory(Round& round) {
    std::vector<std::byte> before(kBytes / 4, std::byte{1});
    weigh_from_here();
    const std::vector<std::byte> held(kBytes, std::byte{1});
    weigh_here(round);
}

TEST(ResidentMemory, WeighsWhatAWorkHolds) {
    const auto held = static_cast<double>(weigh(hold_memory));
    EXPECT_GE(held, static_cast<double>(kBytes));
    EXPECT_LT(held, static_cast<double>(kBytes) * 1.2);
    EXPECT_FALSE(is_weighing());
    EXPECT_EQ(weigh([](Round&) {}), 0U);
}

TEST(ResidentMemory, ABookTellsWhatWasWeighedWhenItWasOpen) {
    MemoryBook book;
    book.is_open = true;
    (void)book.enter("one", hold_memory);
    book.is_open = false;
    Round with(1);
    book.enter("one", [](Round&) {})(with);
    EXPECT_GE(with.memory_bytes().value_or(0), kBytes);
    Round without(1);
    book.enter("two", hold_memory)(without);
    EXPECT_FALSE(without.memory_bytes().has_value());
}

TEST(ResidentMemory, AChildThatFailsIsAnError) {
    EXPECT_THROW((void)in_child_process([]() -> double { throw std::runtime_error("no"); }),
                 std::runtime_error);
    EXPECT_THROW((void)in_child_process([]() -> double { ::_exit(3); }), std::runtime_error);
}

}  // namespace
}  // namespace ouro::bench
