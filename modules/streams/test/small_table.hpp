#pragma once

#include <ouro/streams/memory_table.hpp>

#include <cstddef>
#include <utility>

#include <gtest/gtest.h>

namespace ouro::testing_support {

inline constexpr std::size_t kKib = 1024;
inline constexpr std::size_t kMib = 1024 * kKib;

// A table that fits any platform.
[[nodiscard]] inline MemoryTable small_table(std::size_t bytes = 16 * kMib) {
    auto table = MemoryTable::create({.name = "test table", .reserve_bytes = bytes});
    EXPECT_TRUE(table);
    return *std::move(table);
}

}  // namespace ouro::testing_support
