#include "text_table.hpp"

#include <cstdint>

#include <gtest/gtest.h>

namespace {

TEST(TextTable, SizesReadWell) {
    EXPECT_EQ(ouro::size_text(0), "0 B");
    EXPECT_EQ(ouro::size_text(1023), "1023 B");
    EXPECT_EQ(ouro::size_text(4096), "4 KiB");
    EXPECT_EQ(ouro::size_text(1536), "1.5 KiB");
    EXPECT_EQ(ouro::size_text(std::uint64_t{23} << 30), "23 GiB");
    EXPECT_EQ(ouro::size_text(UINT64_MAX), "16.0 EiB");
}

TEST(TextTable, ValuesStandInOneColumn) {
    ouro::TextTable table;
    table.group("One").line("a", "1").line("longer subject", "2").group("Two").line("b", "3");
    EXPECT_EQ(table.text(),
              "One\n"
              "  a                       1\n"
              "  longer subject          2\n"
              "\n"
              "Two\n"
              "  b                       3\n");
}

}  // namespace
