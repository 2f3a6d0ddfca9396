#include "child_process.hpp"
#include "mapping_table.hpp"

#include <ouro/os/huge_pages.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <cstdint>

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace {

using ouro::MemoryBlock;
using ouro::Status;
using ouro::os::testing_support::NoMappingLeak;
using ouro::os::testing_support::run_in_child;
namespace os = ouro::os;

// A range of addresses where nothing is mapped.
MemoryBlock unmapped_pages() {
    const auto block = os::reserve({.bytes = 16 * os::page_size()});
    EXPECT_TRUE(block);
    EXPECT_TRUE(os::release(*block));
    return *block;
}

TEST(BadInput, UnmappedPagesAreNamedAsSuch) {
    const NoMappingLeak balanced;
    const MemoryBlock nothing = unmapped_pages();
    EXPECT_EQ(os::commit(nothing).status(), Status::not_mapped);
    EXPECT_EQ(os::decommit(nothing).status(), Status::not_mapped);
    EXPECT_EQ(os::protect(nothing, os::Protection::read).status(), Status::not_mapped);
    EXPECT_EQ(os::prefault(nothing).status(), Status::not_mapped);
    EXPECT_EQ(os::discard(nothing).status(), Status::not_mapped);
    EXPECT_EQ(os::advise_huge(nothing, true).status(), Status::not_mapped);
}

TEST(BadInput, PagesThatAreNotCommittedCannotBePrefaulted) {
    const auto block = os::reserve({.bytes = 4 * os::page_size()});
    ASSERT_TRUE(block);
    EXPECT_EQ(os::prefault(*block).status(), Status::not_mapped);
    EXPECT_TRUE(os::release(*block));
}

TEST(BadInput, MoreThanTheAddressSpaceIsRefused) {
    const NoMappingLeak balanced;
    for (unsigned bits = 47; bits < 64; ++bits) {
        EXPECT_EQ(os::reserve({.bytes = std::size_t{1} << bits}).status(), Status::out_of_address_space)
            << bits;
    }
    const auto beyond = reinterpret_cast<void*>(std::uintptr_t{1} << 62);
    EXPECT_EQ(os::reserve({.bytes = 4096, .address = beyond}).status(), Status::out_of_address_space);
}

TEST(BadInput, ALimitOnDataRefusesCommit) {
    const int outcome = run_in_child([] {
        const auto block = os::reserve({.bytes = std::size_t{1} << 30});
        if (!block) return 1;
        rlimit limit{std::size_t{64} << 20, std::size_t{64} << 20};
        if (::setrlimit(RLIMIT_DATA, &limit) != 0) return 2;
        if (os::commit(*block).status() != Status::out_of_memory) return 3;
        // A part that fits still can be had.
        if (!os::commit(block->sub(0, std::size_t{1} << 20))) return 4;
        block->data[0] = std::byte{1};
        return os::release(*block) ? 0 : 5;
    });
#if defined(__SANITIZE_ADDRESS__)
    // The sanitizer's own shadow is over any such limit.
    EXPECT_TRUE(outcome == 0 || outcome == 4) << outcome;
#else
    EXPECT_EQ(outcome, 0);
#endif
}

TEST(BadInput, ALimitOnAddressesRefusesReserve) {
    const int outcome = run_in_child([] {
        rlimit limit{std::size_t{1} << 30, std::size_t{1} << 30};
        if (::setrlimit(RLIMIT_AS, &limit) != 0) return 1;
        return os::reserve({.bytes = std::size_t{2} << 30}).status() == Status::out_of_address_space ? 0 : 2;
    });
    EXPECT_EQ(outcome, 0);
}

// Every second page open makes each page a mapping of its own, until the kernel has had enough.
TEST(BadInput, TooManyMappingsAreNamedAsSuch) {
    const int outcome = run_in_child([] {
        const std::size_t pages = std::size_t{1} << 20;
        const auto block = os::reserve({.bytes = pages * os::page_size()});
        if (!block) return 1;
        for (std::size_t page = 0; page < pages; page += 2) {
            const auto committed = os::commit(block->sub(page * os::page_size(), os::page_size()));
            if (committed) continue;
            return committed.status() == Status::too_many_mappings ? 0 : 2;
        }
        return 3;
    });
    EXPECT_EQ(outcome, 0);
}

TEST(BadInput, AGuardIsAFault) {
    const auto block = os::reserve({.bytes = 2 * os::page_size()});
    ASSERT_TRUE(block);
    ASSERT_TRUE(os::commit(block->sub(0, os::page_size())));
    auto* behind = reinterpret_cast<volatile unsigned char*>(block->data + os::page_size());
    EXPECT_DEATH(*behind = 1, "");
    EXPECT_TRUE(os::release(*block));
}

}  // namespace
