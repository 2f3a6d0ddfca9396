#include "sim_rig.hpp"

#include <ouro/streams/sim_string.hpp>
#include <ouro/streams/sim_vec.hpp>

#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace ouro {
namespace {

struct Item {
    std::uint32_t kind;
    float weight;
    std::uint64_t owner;

    friend bool operator==(const Item&, const Item&) = default;
};

struct Chest {
    SimVec<Item> items;
    SimString label;
};

// A tree: the type holds arrays of itself.
struct Branch {
    SimVec<Branch> children;
    std::uint32_t leaves;
};

class SimVecTest : public testing_support::SimRigTest<Chest> {
protected:
    SimVecRef<Item> items() { return heap().bind(world().items); }
    SimStringRef label() { return heap().bind(world().label); }
    static Item item(std::uint32_t kind) { return {kind, 0.5F, kind * 7ULL}; }
    std::vector<std::uint32_t> kinds() {
        std::vector<std::uint32_t> all;
        for (const Item& each : items())
            all.push_back(each.kind);
        return all;
    }
};

using Kinds = std::vector<std::uint32_t>;

TEST_F(SimVecTest, StartsEmptyAndGrows) {
    auto vec = items();
    EXPECT_TRUE(vec.is_empty());
    EXPECT_EQ(vec.begin(), vec.end());
    for (std::uint32_t i = 0; i < 1000; ++i)
        ASSERT_EQ(vec.push_back(item(i)), Status::ok);
    EXPECT_EQ(vec.size(), 1000U);
    EXPECT_EQ(vec[999], item(999));
    EXPECT_EQ(world().items.check(heap().base()), Status::ok);
    rig_.commit();
    vec.release();
    EXPECT_EQ(vec.capacity(), 0U);
    EXPECT_EQ(heap().stats().heap.live_blocks, 1U);
    rig_.commit();
}

TEST_F(SimVecTest, InsertsAndErases) {
    auto vec = items();
    const std::array some = {item(1), item(2), item(3)};
    ASSERT_EQ(vec.append(some), Status::ok);
    ASSERT_EQ(vec.insert(1, item(9)), Status::ok);
    EXPECT_EQ(kinds(), (Kinds{1, 9, 2, 3}));
    vec.erase(0);
    EXPECT_EQ(kinds(), (Kinds{9, 2, 3}));
    vec.erase_unordered(0);
    EXPECT_EQ(kinds(), (Kinds{3, 2}));
    vec.pop_back();
    EXPECT_EQ(kinds(), (Kinds{3}));
    vec.erase(0);
    EXPECT_TRUE(vec.is_empty());
    rig_.commit();
}

TEST_F(SimVecTest, TakesItsOwnElements) {
    auto vec = items();
    const std::array some = {item(1), item(2), item(3), item(4)};
    ASSERT_EQ(vec.assign(some), Status::ok);
    ASSERT_EQ(vec.insert(2, vec.all().first(4)), Status::ok);
    EXPECT_EQ(kinds(), (Kinds{1, 2, 1, 2, 3, 4, 3, 4}));
    ASSERT_EQ(vec.append(vec.all()), Status::ok);
    EXPECT_EQ(vec.size(), 16U);
    while (vec.size() < vec.capacity())
        ASSERT_EQ(vec.push_back(vec[0]), Status::ok);
    ASSERT_EQ(vec.push_back(vec[1]), Status::ok);
    EXPECT_EQ(vec[vec.size() - 1].kind, 2U);
    ASSERT_EQ(vec.assign(vec.all().subspan(4, 2)), Status::ok);
    EXPECT_EQ(kinds(), (Kinds{3, 4}));
    rig_.commit();
}

TEST_F(SimVecTest, ResizesWithZeros) {
    auto vec = items();
    ASSERT_EQ(vec.resize(3), Status::ok);
    for (Item& each : vec.edit_all())
        each = item(5);
    ASSERT_EQ(vec.resize(1), Status::ok);
    ASSERT_EQ(vec.resize(4), Status::ok);
    EXPECT_EQ(kinds(), (Kinds{5, 0, 0, 0}));
    ASSERT_EQ(vec.resize(500), Status::ok);
    EXPECT_EQ(vec[499], Item{});
    vec.clear();
    EXPECT_GE(vec.capacity(), 500U);
    rig_.commit();
}

TEST_F(SimVecTest, IsAsItWasWhenTheHeapIsFull) {
    auto vec = items();
    while (vec.push_back(item(vec.size())) == Status::ok) {
    }
    EXPECT_GT(vec.size(), 40'000U) << "doubling failed, and the rest was not used";
    const std::uint32_t size = vec.size();
    EXPECT_EQ(vec.push_back(item(1)), Status::capacity_exhausted);
    EXPECT_EQ(vec.resize(size * 2), Status::capacity_exhausted);
    EXPECT_EQ(vec.reserve(UINT32_MAX), Status::capacity_exhausted);
    EXPECT_EQ(vec.append(vec.all()), Status::capacity_exhausted);
    EXPECT_EQ(label().assign(std::string(100'000, 'x')), Status::capacity_exhausted);
    EXPECT_TRUE(label().is_empty());
    ASSERT_EQ(vec.size(), size);
    for (std::uint32_t i = 0; i < size; ++i)
        ASSERT_EQ(vec[i], item(i));
    EXPECT_EQ(heap().check(), Status::ok);
    rig_.commit();
}

TEST_F(SimVecTest, IsReadInThePast) {
    auto vec = items();
    for (std::uint32_t i = 0; i < 2000; ++i)
        ASSERT_EQ(vec.push_back(item(i)), Status::ok);
    ASSERT_EQ(label().assign("a chest"), Status::ok);
    const Tick tick = rig_.commit();
    for (std::uint32_t i = 0; i < 2000; i += 100)
        vec.edit(i) = item(1'000'000);
    vec.pop_back();
    label().release();
    rig_.commit();

    const auto view = rig_.ring().view(tick);
    ASSERT_TRUE(view);
    const PastReader past(*view);
    const auto chest = past.root<Chest>(heap(), "world");
    ASSERT_TRUE(chest);
    ASSERT_EQ(chest->items.size(), 2000U);
    std::vector<Item> all(2000);
    ASSERT_EQ(chest->items.read(past, 0, all), Status::ok);
    for (std::uint32_t i = 0; i < 2000; ++i)
        ASSERT_EQ(all[i], item(i));
    const auto one = chest->items.at(past, 300);
    ASSERT_TRUE(one);
    EXPECT_EQ(*one, item(300));
    EXPECT_EQ(chest->items.at(past, 2000).status(), Status::out_of_range);
    EXPECT_EQ(chest->items.read(past, 1, all), Status::out_of_range);
    std::array<char, 16> text{};
    const auto read = chest->label.read(past, text);
    ASSERT_TRUE(read);
    EXPECT_EQ(*read, "a chest");
    EXPECT_EQ(chest->label.read(past, std::span(text).first(3)).status(), Status::out_of_range);
}

TEST_F(SimVecTest, MayHoldArraysOfItself) {
    const auto root = heap().make_root<Branch>("tree");
    ASSERT_TRUE(root);
    auto children = heap().bind(heap().get(*root).children);
    ASSERT_EQ(children.resize(3), Status::ok);
    auto grandchildren = heap().bind(children[1].children);
    ASSERT_EQ(grandchildren.push_back({.children = {}, .leaves = 12}), Status::ok);
    rig_.commit();
    EXPECT_EQ(heap().get(*root).children.in(heap().base())[1].children.in(heap().base())[0].leaves, 12U);
}

TEST_F(SimVecTest, KnowsWhenItsHeaderMakesNoSense) {
    ASSERT_EQ(items().push_back(item(1)), Status::ok);
    SimVec<Item>& stored = heap().edit(world().items);
    const std::array<std::uint32_t, 3> good = std::bit_cast<std::array<std::uint32_t, 3>>(stored);
    for (const auto& [word, value] : {std::pair<std::size_t, std::uint32_t>{0, 0},
                                      {0, 0xffff'fff0},
                                      {0, good[0] + 4},
                                      {1, good[2] + 1},
                                      {2, 0x1000'0000}}) {
        auto bad = good;
        bad[word] = value;
        EXPECT_EQ(std::bit_cast<SimVec<Item>>(bad).check(heap().base()), Status::corrupt_data) << word;
    }
    EXPECT_EQ(stored.check(heap().base()), Status::ok);
}

TEST_F(SimVecTest, StringsTakePartsOfThemselves) {
    auto text = label();
    ASSERT_EQ(text.assign("abcdef"), Status::ok);
    ASSERT_EQ(text.append(text.view()), Status::ok);
    EXPECT_EQ(text, "abcdefabcdef");
    const std::string_view tail(text.view().data() + 8, 4);
    ASSERT_EQ(text.assign(tail), Status::ok);
    EXPECT_EQ(text, "cdef");
    ASSERT_EQ(text.append(std::string(200, '.')), Status::ok);
    EXPECT_EQ(text.size(), 204U);
    text.clear();
    EXPECT_EQ(text, "");
    rig_.commit();
    text.release();
    EXPECT_EQ(heap().stats().heap.live_blocks, 1U);
}

class VecSubject {
public:
    struct Model {
        std::vector<Item> items;
        std::string label;
    };

    explicit VecSubject(ImageHeap& heap)
        : chest_(heap.make_root<Chest>("chest").value_or(OffsetPtr<Chest>())) {}

    void step(ImageHeap& heap, Model& model, Random& random) {
        auto vec = heap.bind(heap.get(chest_).items);
        auto& items = model.items;
        const std::uint32_t at = random.below(static_cast<std::uint32_t>(items.size()) + 1);
        const auto place = items.begin() + static_cast<std::ptrdiff_t>(at);
        const Item value{random.below(1000), 1.0F, random.below(1000)};
        switch (random.below(12)) {
            case 0:
            case 1:
            case 2:
                items.push_back(value);
                return expect_ok(vec.push_back(value));
            case 3:
                items.insert(place, value);
                return expect_ok(vec.insert(at, value));
            case 4:
                if (at == items.size()) return;
                items.erase(place);
                return vec.erase(at);
            case 5:
                if (at == items.size()) return;
                items[at] = items.back();
                items.pop_back();
                return vec.erase_unordered(at);
            case 6:
                if (at == items.size()) return;
                items[at].weight += 1;
                vec.edit(at).weight += 1;
                return;
            case 7:
                items.resize(random.below(3) == 0 ? at : at + random.below(50));
                return expect_ok(vec.resize(static_cast<std::uint32_t>(items.size())));
            case 8:
                return change_label(heap, model, random);
            default:
                change_many(vec, items, random);
        }
    }

    void expect_same(const ImageHeap& heap, const Model& model) const {
        const Chest& chest = heap.get(chest_);
        EXPECT_TRUE(std::ranges::equal(chest.items.in(heap.base()), model.items));
        EXPECT_EQ(chest.label.in(heap.base()), model.label);
        EXPECT_EQ(chest.items.check(heap.base()), Status::ok);
    }

    void expect_same_past(const ImageHeap& heap, const PastReader& past, const Model& model) const {
        const auto chest = past.root<Chest>(heap, "chest");
        ASSERT_TRUE(chest);
        std::vector<Item> items(chest->items.size());
        ASSERT_EQ(chest->items.read(past, 0, items), Status::ok);
        EXPECT_EQ(items, model.items);
        std::vector<char> text(chest->label.size() + 1);
        const auto label = chest->label.read(past, text);
        ASSERT_TRUE(label);
        EXPECT_EQ(*label, model.label);
    }

private:
    static void expect_ok(Status status) { EXPECT_EQ(status, Status::ok); }

    static void change_many(SimVecRef<Item> vec, std::vector<Item>& items, Random& random) {
        const std::uint32_t choice = random.below(40);
        if (choice < 13) {
            const std::size_t count = std::min<std::size_t>(items.size(), random.below(20));
            const std::vector<Item> part(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(count));
            items.insert(items.end(), part.begin(), part.end());
            return expect_ok(vec.append(vec.all().first(count)));
        }
        if (choice == 13) {
            items.clear();
            return random.below(2) == 0 ? vec.release() : vec.clear();
        }
        for (Item& item : items)
            item.owner += 3;
        for (Item& item : vec.edit_all())
            item.owner += 3;
    }

    void change_label(ImageHeap& heap, Model& model, Random& random) {
        auto label = heap.bind(heap.get(chest_).label);
        const std::string text(random.below(60), static_cast<char>('a' + random.below(26)));
        if (random.below(3) == 0) {
            model.label = text;
            return expect_ok(label.assign(text));
        }
        model.label += text;
        expect_ok(label.append(text));
    }

    OffsetPtr<Chest> chest_;
};

TEST(SimVecModel, IsAsTheStandardOneAtEveryTick) {
    testing_support::run_campaigns<VecSubject>();
}

}  // namespace
}  // namespace ouro
