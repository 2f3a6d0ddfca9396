#include <ouro/os/reservation.hpp>

#include <cstdint>
#include <utility>

#include <gtest/gtest.h>

namespace {

using ouro::Status;
using ouro::os::Reservation;
namespace os = ouro::os;

TEST(Reservation, OwnsItsRange) {
    auto made = Reservation::create({.bytes = 4 * os::page_size()});
    ASSERT_TRUE(made);
    Reservation moved = *std::move(made);
    EXPECT_TRUE(made->block().is_null());
    ASSERT_TRUE(moved.commit(0, moved.block().size));
    moved.block().data[0] = std::byte{1};
    moved = Reservation();
    EXPECT_TRUE(moved.block().is_null());
}

TEST(Reservation, GuardsLieOutsideTheBlock) {
    const std::size_t alignment = 16 * os::page_size();
    auto made = Reservation::create({.bytes = 3 * os::page_size(), .alignment = alignment}, 1);
    ASSERT_TRUE(made);
    EXPECT_EQ(made->guard_bytes(), os::page_size());
    EXPECT_EQ(made->block().size, 3 * os::page_size());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(made->block().data) % alignment, 0U);
    ASSERT_TRUE(made->commit(0, made->block().size));
    made->block().data[made->block().size - 1] = std::byte{1};
}

TEST(Reservation, TakesPartsInsideItOnly) {
    auto made = Reservation::create({.bytes = 4 * os::page_size()}, os::page_size());
    ASSERT_TRUE(made);
    EXPECT_EQ(made->commit(0, 5 * os::page_size()).status(), Status::out_of_range);
    EXPECT_EQ(made->commit(5 * os::page_size(), 0).status(), Status::out_of_range);
    EXPECT_EQ(made->decommit(os::page_size(), SIZE_MAX).status(), Status::out_of_range);
    EXPECT_EQ(made->commit(1, os::page_size()).status(), Status::bad_address);
    EXPECT_EQ(made->commit(0, 0).status(), Status::zero_size);
    EXPECT_TRUE(made->commit(os::page_size(), os::page_size()));
    EXPECT_TRUE(made->decommit(os::page_size(), os::page_size()));
}

TEST(Reservation, RefusesSenselessRequests) {
    EXPECT_EQ(Reservation::create({.bytes = 0}, 4096).status(), Status::zero_size);
    EXPECT_EQ(Reservation::create({.bytes = 1}, SIZE_MAX).status(), Status::size_overflow);
    EXPECT_EQ(Reservation::create({.bytes = 1}, SIZE_MAX / 2 + 1).status(), Status::size_overflow);
    EXPECT_EQ(Reservation::create({.bytes = SIZE_MAX - 65536}, 65536).status(), Status::size_overflow);
    EXPECT_EQ(Reservation::create({.bytes = 1, .alignment = 3}, 4096).status(), Status::bad_alignment);
}

TEST(Reservation, AChosenAddressIsTheBlocks) {
    auto probe = Reservation::create({.bytes = 16 * os::page_size()});
    ASSERT_TRUE(probe);
    std::byte* address = probe->block().data + 4 * os::page_size();
    *probe = Reservation();
    auto made = Reservation::create({.bytes = 2 * os::page_size(), .address = address}, os::page_size());
    ASSERT_TRUE(made);
    EXPECT_EQ(made->block().data, address);
}

}  // namespace
