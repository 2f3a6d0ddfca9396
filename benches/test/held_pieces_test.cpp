#include "os/held_pieces.hpp"

#include <gtest/gtest.h>

namespace ouro::bench {
namespace {

TEST(HeldPieces, CountsWhatLiesInPiecesOfLessThanAHugePage) {
    EXPECT_EQ(bytes_in_pieces(""), 0U);
    EXPECT_EQ(
        bytes_in_pieces("Node 0, zone      DMA      0      0      0      0      0      0      0      0      1"
                        "      1      3\n"),
        4096U << 8);
    EXPECT_EQ(
        bytes_in_pieces("Node 0, zone    DMA32      3      2      0      0      0      0      0      0      0"
                        "     7    752\n"
                        "Node 0, zone   Normal      1      0      0      0      0      0      0      0      0"
                        "     3     77\n"),
        4096U * (3 + 4 + 1));
}

TEST(HeldPieces, IsThereWhateverTheSystemTells) {
    const HeldPieces held;
}

}  // namespace
}  // namespace ouro::bench
