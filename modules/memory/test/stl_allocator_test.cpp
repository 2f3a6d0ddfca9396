#include <ouro/memory/frame_allocator.hpp>
#include <ouro/memory/pmr.hpp>
#include <ouro/memory/stl_allocator.hpp>

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <memory_resource>
#include <new>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::FrameAllocator;
using ouro::FromPmr;
using ouro::StlAllocator;

template <class T>
using Vector = std::vector<T, StlAllocator<T>>;
using String = std::basic_string<char, std::char_traits<char>, StlAllocator<char>>;
template <class K, class V>
using Map = std::map<K, V, std::less<>, StlAllocator<std::pair<const K, V>>>;
template <class K, class V>
using HashMap = std::unordered_map<K, V, std::hash<K>, std::equal_to<>, StlAllocator<std::pair<const K, V>>>;

using Traits = std::allocator_traits<StlAllocator<int>>;
static_assert(std::is_same_v<Traits::rebind_alloc<double>, StlAllocator<double>>);
static_assert(!Traits::is_always_equal::value && !Traits::propagate_on_container_copy_assignment::value);
static_assert(Traits::propagate_on_container_move_assignment::value &&
              Traits::propagate_on_container_swap::value);

// Counts every block, so that a test ends with none.
class StlContainers : public testing::Test {
protected:
    void TearDown() override {
        EXPECT_GT(counted_.stats().allocations, 0U);
        EXPECT_EQ(counted_.stats().live_blocks, 0U);
        EXPECT_EQ(counted_.stats().live_bytes, 0U);
        EXPECT_EQ(other_.stats().live_blocks, 0U);
    }

    std::pmr::unsynchronized_pool_resource pool_;
    FromPmr counted_{pool_};
    FromPmr other_{pool_};
};

TEST_F(StlContainers, Vector) {
    Vector<int> numbers(counted_);
    for (int i = 0; i < 10'000; ++i)
        numbers.push_back(i);
    EXPECT_EQ(numbers[9999], 9999);
    EXPECT_EQ(counted_.stats().live_blocks, 1U);
    EXPECT_EQ(counted_.stats().live_bytes, numbers.capacity() * sizeof(int));
}

TEST_F(StlContainers, StringAndNestedVector) {
    Vector<String> words(counted_);
    for (int i = 0; i < 100; ++i)
        words.push_back(String(200, 'x', StlAllocator<char>(counted_)));
    EXPECT_GE(counted_.stats().live_blocks, 101U);
    EXPECT_EQ(words[50].size(), 200U);
}

TEST_F(StlContainers, ListAndDeque) {
    std::list<int, StlAllocator<int>> list(counted_);
    std::deque<int, StlAllocator<int>> deque(counted_);
    for (int i = 0; i < 1000; ++i) {
        list.push_front(i);
        deque.push_front(i);
    }
    EXPECT_EQ(list.front(), 999);
    EXPECT_EQ(deque.back(), 0);
    EXPECT_GE(counted_.stats().live_blocks, 1000U);
    list.remove_if([](int number) { return number % 2 != 0; });
    EXPECT_EQ(list.size(), 500U);
}

TEST_F(StlContainers, MapAndUnorderedMap) {
    Map<int, int> map{StlAllocator<std::pair<const int, int>>(counted_)};
    HashMap<int, int> hashed{StlAllocator<std::pair<const int, int>>(counted_)};
    for (int i = 0; i < 1000; ++i) {
        map[i] = -i;
        hashed[i] = -i;
    }
    for (int i = 0; i < 1000; ++i) {
        ASSERT_EQ(map.at(i), -i);
        ASSERT_EQ(hashed.at(i), -i);
    }
    map.erase(map.begin(), map.find(500));
    EXPECT_EQ(map.size(), 500U);
}

TEST_F(StlContainers, AMovedContainerTakesItsMemoryAlong) {
    Vector<int> from(1000, 7, counted_);
    Vector<int> to(10, 1, other_);
    const int* data = from.data();
    const auto allocations = counted_.stats().allocations + other_.stats().allocations;
    to = std::move(from);
    EXPECT_EQ(to.data(), data);
    EXPECT_EQ(counted_.stats().allocations + other_.stats().allocations, allocations);
    EXPECT_EQ(other_.stats().live_blocks, 0U);
    EXPECT_TRUE(to.get_allocator() == StlAllocator<int>(counted_));
}

TEST_F(StlContainers, SwappingExchangesMemoryAndResource) {
    Vector<int> one(1000, 7, counted_);
    Vector<int> two(10, 1, other_);
    const int* data = one.data();
    one.swap(two);
    EXPECT_EQ(two.data(), data);
    EXPECT_TRUE(two.get_allocator() == StlAllocator<int>(counted_));
    EXPECT_TRUE(one.get_allocator() == StlAllocator<int>(other_));
}

TEST_F(StlContainers, ACopyStaysWhereItWasMade) {
    const Vector<int> from(1000, 7, counted_);
    Vector<int> to(10, 1, other_);
    to = from;
    EXPECT_TRUE(to.get_allocator() == StlAllocator<int>(other_));
    EXPECT_EQ(to, from);
    const Vector<int> copy = from;
    EXPECT_TRUE(copy.get_allocator() == from.get_allocator());
    EXPECT_EQ(counted_.stats().live_blocks, 2U);
}

TEST_F(StlContainers, SharedPointersToo) {
    const auto shared = std::allocate_shared<int>(StlAllocator<int>(counted_), 5);
    const std::weak_ptr<int> weak = shared;
    EXPECT_EQ(*weak.lock(), 5);
    EXPECT_EQ(counted_.stats().live_blocks, 1U);
}

TEST(StlAllocator, EqualityIsThatOfTheResources) {
    auto one = FrameAllocator::create({.max_bytes = 65536});
    auto two = FrameAllocator::create({.max_bytes = 65536});
    ASSERT_TRUE(one && two);
    const StlAllocator<int> ints(*one);
    const StlAllocator<double> doubles(ints);
    EXPECT_TRUE(ints == doubles);
    EXPECT_FALSE(ints != StlAllocator<int>(doubles));
    EXPECT_TRUE(ints != StlAllocator<int>(*two));
}

TEST(StlAllocator, FailureIsTheExceptionThatContainersExpect) {
    auto frame = FrameAllocator::create({.max_bytes = 65536});
    ASSERT_TRUE(frame);
    StlAllocator<std::uint64_t> memory(*frame);
    EXPECT_THROW((void)memory.allocate(SIZE_MAX / 8 + 1), std::bad_alloc);
    EXPECT_THROW((void)memory.allocate(10'000), std::bad_alloc);
    Vector<std::uint64_t> numbers(memory);
    numbers.assign(100, 1);
    EXPECT_THROW(numbers.resize(10'000), std::bad_alloc);
    EXPECT_EQ(numbers.size(), 100U);
    EXPECT_EQ(numbers[99], 1U);
}

TEST(StlAllocator, KeepsLargeAlignments) {
    struct alignas(128) Wide {
        std::uint8_t bytes[128];
    };
    auto frame = FrameAllocator::create({.max_bytes = 65536});
    ASSERT_TRUE(frame);
    ASSERT_TRUE(frame->allocate(3, 1));
    const Vector<Wide> wide(5, *frame);
    EXPECT_TRUE(ouro::is_aligned(wide.data(), 128));
}

}  // namespace
