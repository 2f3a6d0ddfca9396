// Addresses are found in a process with more mappings than the verifier tells apart.
#include <ouro/streams/verifier.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>

namespace ouro {
namespace {

// Every second page of a range: as many mappings with nothing between them.
class ManyMappings {
public:
    static constexpr std::size_t kCount = 1500;

    ManyMappings() {
        void* const all = mmap(nullptr, 2 * kCount * kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (all == MAP_FAILED) return;
        begin_ = static_cast<std::byte*>(all);
        for (std::size_t index = 0; index < kCount; ++index)
            munmap(page(index) + kPage, kPage);
    }
    ManyMappings(const ManyMappings&) = delete;
    ManyMappings& operator=(const ManyMappings&) = delete;
    ~ManyMappings() {
        for (std::size_t index = 0; index < kCount && is_made(); ++index)
            munmap(page(index), kPage);
    }

    [[nodiscard]] bool is_made() const { return begin_ != nullptr; }
    [[nodiscard]] std::byte* page(std::size_t index) const { return begin_ + 2 * index * kPage; }

private:
    static constexpr std::size_t kPage = 4096;
    std::byte* begin_ = nullptr;
};

TEST(VerifierMappings, NoAddressIsLostAmongManyMappings) {
    const SegmentOptions world{.name = "world", .bytes = 64 << 10};
    auto ring = StateRing::create({.segments = {&world, 1}, .history_ticks = 8, .history_bytes = 8 << 20});
    ASSERT_TRUE(ring);
    const ManyMappings many;
    ASSERT_TRUE(many.is_made());
    const int on_stack = 0;
    // From the lowest to the highest of the process.
    std::vector<const void*> addresses = {&on_stack, ring->image().data};
    for (const std::size_t index : {std::size_t{0}, ManyMappings::kCount / 2, ManyMappings::kCount - 1})
        addresses.push_back(many.page(index) + 8);
    std::byte* const at = ring->segment_block("world")->data;
    std::memcpy(at, addresses.data(), addresses.size() * sizeof(void*));
    ASSERT_EQ(ring->mark(at, addresses.size() * sizeof(void*)), Status::ok);
    // Numbers are none, however many mappings there are.
    const std::uint64_t number = 1000;
    std::memcpy(at + 4096, &number, sizeof(number));
    ASSERT_EQ(ring->mark(at + 4096, sizeof(number)), Status::ok);
    ASSERT_TRUE(ring->commit());
    std::vector<const void*> found;
    const auto count = verify_image(*ring, {.finds_nans = false}, [&](const Finding& each) {
        EXPECT_EQ(each.kind, FindingKind::address);
        const void* value = nullptr;
        std::memcpy(&value, each.address, sizeof(value));
        found.push_back(value);
    });
    ASSERT_TRUE(count);
    EXPECT_EQ(found, addresses);
}

}  // namespace
}  // namespace ouro
