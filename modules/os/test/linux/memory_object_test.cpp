#include "mapping_table.hpp"

#include <ouro/os/memory_object.hpp>
#include <ouro/os/process_memory.hpp>
#include <ouro/os/reservation.hpp>

#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

using ouro::MemoryBlock;
using ouro::Status;
using ouro::os::MemoryObject;
using ouro::os::testing_support::NoMappingLeak;
namespace os = ouro::os;

TEST(MemoryObject, IsTheSameMemoryAtTwoAddresses) {
    const NoMappingLeak balanced;
    const auto object = MemoryObject::create(8 * os::page_size(), "two-views");
    ASSERT_TRUE(object);
    const auto first = object->map({.bytes = object->size()});
    const auto second = object->map({.offset = 4 * os::page_size(), .bytes = 4 * os::page_size()});
    ASSERT_TRUE(first && second);
    first->block().data[5 * os::page_size()] = std::byte{9};
    EXPECT_EQ(second->block().data[os::page_size()], std::byte{9});
    second->block().data[0] = std::byte{8};
    EXPECT_EQ(first->block().data[4 * os::page_size()], std::byte{8});
}

TEST(MemoryObject, MapsAtAChosenAddress) {
    const auto object = MemoryObject::create(2 * os::page_size(), "chosen");
    ASSERT_TRUE(object);
    auto probe = os::Reservation::create({.bytes = 2 * os::page_size()});
    ASSERT_TRUE(probe);
    void* address = probe->block().data;
    EXPECT_EQ(object->map({.bytes = object->size(), .address = address}).status(), Status::address_in_use);
    *probe = os::Reservation();
    const auto mapping = object->map({.bytes = object->size(), .address = address});
    ASSERT_TRUE(mapping);
    EXPECT_EQ(mapping->block().data, address);
}

TEST(MemoryObject, TakesPartOfAReservationAndGivesItBack) {
    const NoMappingLeak balanced;
    auto table = os::Reservation::create({.bytes = 16 * os::page_size()});
    ASSERT_TRUE(table);
    const MemoryBlock part = table->block().sub(4 * os::page_size(), 4 * os::page_size());
    {
        const auto object = MemoryObject::create(part.size, "within");
        ASSERT_TRUE(object);
        const auto mapping = object->map({.bytes = part.size, .within = part});
        ASSERT_TRUE(mapping);
        EXPECT_EQ(mapping->block(), part);
        part.data[0] = std::byte{1};
    }
    // The addresses are still the reservation's, and no longer accessible.
    EXPECT_EQ(os::reserve({.bytes = part.size, .address = part.data}).status(), Status::address_in_use);
    EXPECT_TRUE(os::commit(part));
    EXPECT_EQ(part.data[0], std::byte{0});
}

TEST(MemoryObject, AMappingOutlivesItsObject) {
    auto object = MemoryObject::create(os::page_size(), "outlived");
    ASSERT_TRUE(object);
    auto mapping = object->map({.bytes = os::page_size()});
    ASSERT_TRUE(mapping);
    *object = MemoryObject();
    mapping->block().data[0] = std::byte{3};
    const os::Mapping moved = *std::move(mapping);
    EXPECT_EQ(moved.block().data[0], std::byte{3});
}

TEST(MemoryObject, GrowsAndNeverShrinks) {
    auto object = MemoryObject::create(os::page_size(), "grows");
    ASSERT_TRUE(object);
    ASSERT_TRUE(object->grow(10 * os::page_size() - 1));
    EXPECT_EQ(object->size(), 10 * os::page_size());
    EXPECT_TRUE(object->map({.offset = 9 * os::page_size(), .bytes = os::page_size()}));
    EXPECT_TRUE(object->grow(1));
    EXPECT_EQ(object->size(), 10 * os::page_size());
    EXPECT_NE(::ftruncate(object->descriptor(), 0), 0);
    EXPECT_EQ(object->grow(SIZE_MAX).status(), Status::size_overflow);
}

TEST(MemoryObject, DiscardedPagesReadZeroAndAreGivenBack) {
    auto object = MemoryObject::create(64 * os::page_size(), "discards");
    ASSERT_TRUE(object);
    const auto mapping = object->map({.bytes = object->size()});
    ASSERT_TRUE(mapping);
    std::memset(mapping->block().data, 1, object->size());
    ASSERT_TRUE(object->discard(os::page_size(), 62 * os::page_size()));
    EXPECT_EQ(mapping->block().data[os::page_size()], std::byte{0});
    EXPECT_EQ(mapping->block().data[0], std::byte{1});
    EXPECT_EQ(mapping->block().data[63 * os::page_size()], std::byte{1});
    // Reading the hole brought one page back at most; blocks are counted in units of 512 bytes.
    struct stat state = {};
    ASSERT_EQ(::fstat(object->descriptor(), &state), 0);
    EXPECT_LE(static_cast<std::size_t>(state.st_blocks) * 512, 4 * os::page_size());
}

TEST(MemoryObject, IsOpenedByItsDescriptor) {
    const NoMappingLeak balanced;
    const auto object = MemoryObject::create(2 * os::page_size(), "passed on");
    ASSERT_TRUE(object);
    const auto mapping = object->map({.bytes = object->size()});
    ASSERT_TRUE(mapping);
    mapping->block().data[5] = std::byte{5};
    const auto same = MemoryObject::open(object->descriptor());
    ASSERT_TRUE(same);
    EXPECT_EQ(same->size(), object->size());
    EXPECT_NE(same->descriptor(), object->descriptor());
    const auto read_only = MemoryObject::open_of(os::process_id(), object->descriptor());
    ASSERT_TRUE(read_only);
    const auto view = read_only->map({.bytes = object->size(), .protection = os::Protection::read});
    ASSERT_TRUE(view);
    EXPECT_EQ(view->block().data[5], std::byte{5});
    EXPECT_EQ(read_only->map({.bytes = object->size()}).status(), Status::permission_denied);
}

TEST(MemoryObject, OnlyObjectsThatCannotShrinkAreOpened) {
    EXPECT_EQ(MemoryObject::open(-1).status(), Status::bad_argument);
    const int plain = ::memfd_create("plain", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    EXPECT_EQ(MemoryObject::open(plain).status(), Status::wrong_format);
    ASSERT_EQ(::fcntl(plain, F_ADD_SEALS, F_SEAL_SHRINK), 0);
    EXPECT_EQ(MemoryObject::open(plain).status(), Status::zero_size);
    ASSERT_EQ(::ftruncate(plain, 100), 0);
    const auto object = MemoryObject::open(plain);
    ASSERT_TRUE(object);
    EXPECT_EQ(object->size(), os::page_size());
    ::close(plain);
    std::array<int, 2> pipe{};
    ASSERT_EQ(::pipe(pipe.data()), 0);
    EXPECT_EQ(MemoryObject::open(pipe[0]).status(), Status::wrong_format);
    EXPECT_EQ(MemoryObject::open_of(os::process_id(), pipe[0]).status(), Status::wrong_format);
    EXPECT_EQ(MemoryObject::open_of(os::process_id(), 12'345).status(), Status::not_found);
    ::close(pipe[0]);
    ::close(pipe[1]);
}

TEST(MemoryObject, RefusesSenselessRequests) {
    const NoMappingLeak balanced;
    EXPECT_EQ(MemoryObject::create(0, "zero").status(), Status::zero_size);
    EXPECT_EQ(MemoryObject::create(SIZE_MAX, "huge").status(), Status::size_overflow);
    EXPECT_EQ(MemoryObject::create(SIZE_MAX - 8191, "huge").status(), Status::size_overflow);
    auto object = MemoryObject::create(4 * os::page_size(), "checked");
    ASSERT_TRUE(object);
    const std::size_t page = os::page_size();
    EXPECT_EQ(object->map({.bytes = 0}).status(), Status::zero_size);
    EXPECT_EQ(object->map({.offset = 1, .bytes = page}).status(), Status::bad_address);
    EXPECT_EQ(object->map({.bytes = page + 1}).status(), Status::bad_address);
    EXPECT_EQ(object->map({.bytes = 5 * page}).status(), Status::out_of_range);
    EXPECT_EQ(object->map({.offset = 8 * page, .bytes = page}).status(), Status::out_of_range);
    EXPECT_EQ(object->map({.offset = page, .bytes = SIZE_MAX - page + 1}).status(), Status::out_of_range);
    EXPECT_EQ(object->map({.bytes = page, .address = reinterpret_cast<void*>(1)}).status(),
              Status::bad_address);
    EXPECT_EQ(object->discard(0, 5 * page).status(), Status::out_of_range);
    EXPECT_EQ(object->discard(0, 0).status(), Status::zero_size);
    EXPECT_EQ(object->discard(0, 1).status(), Status::bad_address);
    const auto block = os::reserve({.bytes = 4 * page});
    ASSERT_TRUE(block && os::release(*block));
    EXPECT_EQ(object->map({.bytes = 4 * page, .within = *block}).status(), Status::not_mapped);
    EXPECT_EQ(object->map({.bytes = 2 * page, .within = *block}).status(), Status::bad_argument);
}

}  // namespace
