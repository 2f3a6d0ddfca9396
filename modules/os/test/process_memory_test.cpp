#include <ouro/os/process_memory.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <cstring>

#include <gtest/gtest.h>

namespace {

namespace os = ouro::os;

TEST(ProcessMemory, CountsWhatIsTouchedAndWhatIsReserved) {
    const auto before = os::process_memory();
    ASSERT_TRUE(before);
    EXPECT_GT(before->resident_bytes, 0U);
    EXPECT_GE(before->peak_resident_bytes, before->resident_bytes);
    EXPECT_GE(before->virtual_bytes, before->resident_bytes);

    constexpr std::size_t kBytes = std::size_t{16} << 20;
    const auto block = os::reserve({.bytes = kBytes});
    ASSERT_TRUE(block);
    ASSERT_TRUE(os::commit(*block));
    std::memset(block->data, 1, block->size);
    const auto with = os::process_memory();
    ASSERT_TRUE(with);
    // The counts are exact to some dozens of pages only, and a wasm memory may have had room already.
    constexpr std::uint64_t kSlack = std::uint64_t{4} << 20;
    EXPECT_GE(with->resident_bytes + kSlack, before->resident_bytes);
    EXPECT_GE(with->peak_resident_bytes, with->resident_bytes);
    EXPECT_GE(with->virtual_bytes, with->resident_bytes);
    EXPECT_GE(with->resident_bytes + kSlack, kBytes);
    ASSERT_TRUE(os::release(*block));
    const auto after = os::process_memory();
    ASSERT_TRUE(after);
    EXPECT_GE(after->peak_resident_bytes + kSlack, with->resident_bytes);
    EXPECT_LE(after->resident_bytes, with->resident_bytes + kSlack);
}

TEST(ProcessMemory, TheProcessHasANumber) {
    EXPECT_NE(ouro::os::process_id(), 0U);
    EXPECT_EQ(ouro::os::process_id(), ouro::os::process_id());
}

TEST(ProcessMemory, LettingOthersReadWorksOrIsNotSupported) {
    const auto allowed = ouro::os::let_same_user_read();
    EXPECT_TRUE(allowed || allowed.status() == ouro::Status::not_supported);
}

}  // namespace
