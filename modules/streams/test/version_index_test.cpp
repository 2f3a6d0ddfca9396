#include "version_index.hpp"

#include <ouro/base/random.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace ouro::detail {
namespace {

constexpr std::uint32_t kPages = 8;
constexpr std::uint32_t kVersions = 400;

struct Fixture {
    VersionIndex index;
    std::vector<std::byte> memory;

    Fixture() {
        Carver size;
        index.carve(size, kPages, kVersions);
        memory.resize(static_cast<std::size_t>(size.used_bytes()) + Carver::kAlignment);
        auto* aligned = memory.data() + padding_to(memory.data(), Carver::kAlignment);
        Carver carver(MemoryBlock{aligned, memory.size() - Carver::kAlignment});
        index.carve(carver, kPages, kVersions);
    }
};

TEST(VersionIndex, FindsTheNewestAtOrBeforeATick) {
    Fixture fixture;
    for (std::uint32_t tick = 10; tick <= 300; tick += 10)
        ASSERT_TRUE(fixture.index.append(3, {tick, tick + 1}, 0));
    EXPECT_EQ(fixture.index.find(3, 9).slot, 0U);
    for (std::uint32_t tick = 10; tick <= 320; ++tick)
        EXPECT_EQ(fixture.index.find(3, tick).tick, std::min(300U, tick / 10 * 10)) << tick;
    EXPECT_EQ(fixture.index.find(2, 100).slot, 0U);
    EXPECT_EQ(fixture.index.newest(3).slot, 301U);
    EXPECT_EQ(fixture.index.check(), Status::ok);
}

// Random appends, truncations and compactions beside a map.
void run_model(std::uint64_t seed) {
    Fixture fixture;
    VersionIndex& index = fixture.index;
    Random random(seed);
    std::array<std::map<std::uint32_t, std::uint32_t>, kPages> model;
    std::uint32_t tick = 1;
    std::uint32_t oldest = 0;
    const auto drop_old = [&] {
        for (auto& page : model) {
            auto keep = page.upper_bound(oldest);
            if (keep != page.begin()) page.erase(page.begin(), std::prev(keep));
        }
    };
    for (int step = 0; step < 3000; ++step) {
        SCOPED_TRACE("step " + std::to_string(step));
        const std::uint32_t page = random.below(random.below(3) == 0 ? kPages : 2);
        ++tick;
        // As many as the index was made for.
        while (model[0].size() + model[1].size() > kVersions - 60) {
            ++oldest;
            drop_old();
        }
        const Version version{tick, 1 + random.below(1000)};
        if (!index.append(page, version, oldest)) {
            index.compact([&](std::uint32_t, std::uint32_t, std::uint32_t until) { return until > oldest; });
            ASSERT_TRUE(index.append(page, version, oldest));
        }
        model[page][tick] = version.slot;
        if (random.below(50) == 0) {
            const std::uint32_t back = std::max(oldest, tick - random.below(std::min(tick, 80U)));
            index.begin_change();
            for (std::uint32_t each = 0; each < kPages; ++each) {
                if (index.newest(each).tick > back) index.truncate(each, back);
                model[each].erase(model[each].upper_bound(back), model[each].end());
            }
            index.end_change();
            tick = back;
        }
        ASSERT_EQ(index.check(), Status::ok);
        const std::uint32_t asked = oldest + random.below(tick - oldest + 2);
        for (std::uint32_t each = 0; each < kPages; ++each) {
            const auto behind = model[each].upper_bound(asked);
            const std::uint32_t wanted = behind == model[each].begin() ? 0 : std::prev(behind)->second;
            ASSERT_EQ(index.find(each, asked).slot, wanted) << "page " << each << ", tick " << asked;
        }
    }
}

TEST(VersionIndex, EqualsAMapOverRandomOperations) {
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        run_model(seed);
    }
}

}  // namespace
}  // namespace ouro::detail
