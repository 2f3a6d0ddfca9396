// That what a heap takes beyond a point comes on huge pages, and nothing before it.
#include <ouro/memory/memory_options.hpp>
#include <ouro/memory/small_object_allocator.hpp>
#include <ouro/os/capabilities.hpp>
#include <ouro/os/huge_pages.hpp>

#include <cstring>

#include <gtest/gtest.h>

namespace {

using namespace ouro;

constexpr std::size_t kMebi = std::size_t{1} << 20;
constexpr std::size_t kBlocks = 48;

class HeapHugePages : public testing::Test {
protected:
    void SetUp() override {
        const os::Capabilities capabilities = os::query_capabilities();
        if (capabilities.transparent_huge_pages < os::TransparentHugePages::madvise)
            GTEST_SKIP() << "needs transparent_huge_pages";
        if (capabilities.pagemap_scan != Status::ok) GTEST_SKIP() << "needs pagemap_scan";
    }

    // Uses 48 MiB of a heap, and tells how much of what lies before a point and behind it is on huge pages.
    struct Found {
        std::size_t before = 0;
        std::size_t behind = 0;
    };
    static Found fill(std::size_t from_bytes) {
        MemoryConfig config;
        config.heap_huge_pages_from_bytes = from_bytes;
        auto heap = SmallObjectAllocator::create(small_object_options(config));
        EXPECT_TRUE(heap);
        for (std::size_t i = 0; heap && i < kBlocks; ++i) {
            const auto block = heap->allocate(kMebi);
            if (!block) return {};
            std::memset(block->data, 1, block->size);
        }
        const std::size_t middle = std::min(from_bytes, 16 * kMebi);
        const MemoryBlock all = heap->addresses();
        return {middle == 0 ? 0 : os::huge_bytes_in(all.sub(0, middle)).value_or(1U),
                os::huge_bytes_in(all.sub(middle, kBlocks * kMebi - middle)).value_or(0U)};
    }
};

TEST_F(HeapHugePages, ComeBehindThePointOnly) {
    const Found found = fill(16 * kMebi);
    EXPECT_EQ(found.before, 0U);
    EXPECT_GT(found.behind, 0U);
    EXPECT_EQ(found.behind % (2 * kMebi), 0U);
}

TEST_F(HeapHugePages, ComeFromTheBeginning) {
    EXPECT_GT(fill(0).behind, 16 * kMebi);
}

TEST_F(HeapHugePages, DoNotComeUnasked) {
    // Some systems give them to everybody.
    if (os::query_capabilities().transparent_huge_pages != os::TransparentHugePages::madvise) return;
    const Found found = fill(SmallObjectAllocator::kNoHugePages);
    EXPECT_EQ(found.before, 0U);
    EXPECT_EQ(found.behind, 0U);
}

}  // namespace
