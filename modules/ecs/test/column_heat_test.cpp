// Which columns lie in one page, and so what the commit of a tick copies.
#include "ecs_rig.hpp"

#include <cstddef>
#include <set>
#include <vector>

namespace ouro::testing_support {

struct Mood {
    std::uint32_t level;
};
struct Hunger {
    std::uint32_t level;
};
struct Ancestry {
    std::uint32_t mother;
};
struct Birthplace {
    std::uint32_t region;
};

}  // namespace ouro::testing_support

template <>
inline constexpr ouro::ComponentOptions ouro::kComponentOptions<ouro::testing_support::Mood> = {
    .heat = ouro::Heat::warm};
template <>
inline constexpr ouro::ComponentOptions ouro::kComponentOptions<ouro::testing_support::Hunger> = {
    .heat = ouro::Heat::warm};
template <>
inline constexpr ouro::ComponentOptions ouro::kComponentOptions<ouro::testing_support::Ancestry> = {
    .heat = ouro::Heat::cold};
template <>
inline constexpr ouro::ComponentOptions ouro::kComponentOptions<ouro::testing_support::Birthplace> = {
    .heat = ouro::Heat::cold};

namespace ouro {
namespace {

using namespace testing_support;
using Pages = std::set<std::size_t>;

class ColumnHeatTest : public EcsTest {
protected:
    // Where the T of these entities lie.
    template <class T>
    [[nodiscard]] Pages pages_of(const std::vector<Entity>& entities, std::size_t first = 0) {
        Pages pages;
        for (std::size_t i = first; i < entities.size(); ++i) {
            const T* const value = world().get<T>(entities[i]);
            if (value == nullptr) continue;
            const auto* const address = reinterpret_cast<const std::byte*>(value);
            const auto offset = static_cast<std::size_t>(address - rig_.ring().image().data);
            pages.insert(offset / kStatePageBytes);
            pages.insert((offset + sizeof(T) - 1) / kStatePageBytes);
        }
        return pages;
    }
    static Pages common(const Pages& one, const Pages& other) {
        Pages both;
        for (const std::size_t page : one)
            if (other.contains(page)) both.insert(page);
        return both;
    }
    static Pages all_of(const Pages& one, const Pages& other) {
        Pages all = one;
        all.insert(other.begin(), other.end());
        return all;
    }
};

TEST_F(ColumnHeatTest, SmallColumnsShareThePagesOfTheirHeat) {
    const Position hot{1, 2};
    const std::vector<Entity> all = {
        *world().spawn(hot, Mood{1}, Ancestry{2}), *world().spawn(Health{3}, Hunger{4}, Birthplace{5}),
        *world().spawn(hot, Health{6}, Frozen{}), *world().spawn(Mood{7}, Birthplace{8}, Frozen{})};
    const Pages warm = all_of(pages_of<Mood>(all), pages_of<Hunger>(all));
    const Pages cold = all_of(pages_of<Ancestry>(all), pages_of<Birthplace>(all));
    const Pages hottest = all_of(pages_of<Position>(all), pages_of<Health>(all));
    EXPECT_FALSE(common(pages_of<Position>(all), pages_of<Health>(all)).empty());
    EXPECT_FALSE(common(pages_of<Mood>(all), pages_of<Hunger>(all)).empty());
    EXPECT_FALSE(common(pages_of<Ancestry>(all), pages_of<Birthplace>(all)).empty());
    EXPECT_TRUE(common(hottest, warm).empty());
    EXPECT_TRUE(common(hottest, cold).empty());
    EXPECT_TRUE(common(warm, cold).empty());
}

TEST_F(ColumnHeatTest, LargeColumnsHaveTheirPagesForThemselves) {
    std::vector<Entity> all;
    for (std::int32_t i = 0; i < 6'000; ++i)
        all.push_back(*world().spawn(Position{}, Health{i}, Ancestry{}));
    // From there on each column of a block has a page or more.
    constexpr std::size_t kLarge = 1'024;
    const Pages positions = pages_of<Position>(all, kLarge);
    EXPECT_TRUE(common(positions, pages_of<Health>(all)).empty());
    EXPECT_TRUE(common(positions, pages_of<Ancestry>(all)).empty());
    EXPECT_TRUE(common(pages_of<Health>(all, kLarge), pages_of<Ancestry>(all)).empty());
}

TEST_F(ColumnHeatTest, WritingWhatIsHotCopiesNothingThatIsCold) {
    std::vector<Entity> all;
    for (std::int32_t i = 0; i < 6'000; ++i)
        all.push_back(*world().spawn(Health{i}, Genome{}));
    rig_.commit();
    rig_.commit();
    Query<Health&>(world()).each([](Health& health) { ++health.points; });
    rig_.commit();
    // Beside the column, what the world keeps of it: its header, its records and marks.
    constexpr std::size_t kBeside = 8;
    const std::size_t hot = pages_of<Health>(all).size();
    EXPECT_GE(rig_.ring().stats().last_pages, hot);
    EXPECT_LE(rig_.ring().stats().last_pages, hot + kBeside);
    EXPECT_GT(pages_of<Genome>(all).size(), 10 * hot);
}

}  // namespace
}  // namespace ouro
