// What a thread keeps of the large blocks that it freed, for its next ones.
#include "damage.hpp"

#include <ouro/memory/detail/heap_core.hpp>
#include <ouro/memory/small_object_allocator.hpp>

#include <cstddef>
#include <cstring>
#include <random>
#include <vector>

namespace ouro::testing_support {

OURO_OPEN_MEMBER(KeptCore, &SmallObjectAllocator::core_);
OURO_OPEN_MEMBER(KeptSlabs, &detail::HeapCore::slabs_);
OURO_OPEN_MEMBER(KeptKinds, &detail::HeapCore::kinds_);
OURO_OPEN_MEMBER(KeptHeaps, &detail::HeapCore::heaps_);
OURO_OPEN_MEMBER(KeptRunsOf, &detail::ThreadHeap::runs_);
OURO_OPEN_MEMBER(KeptPlaces, &detail::KeptRuns::places_);
OURO_OPEN_MEMBER(KeptEnds, &detail::KeptRuns::ends_);
OURO_OPEN_MEMBER(KeptLimit, &detail::KeptRuns::limit_units_);
OURO_OPEN_MEMBER(KeptUnits, &detail::KeptRuns::units_);
OURO_OPEN_MEMBER(KeptUnpromised, &detail::HeapCore::unpromised_units_);
OURO_OPEN_MEMBER(KeptSizes, &detail::KeptRuns::sizes_);

namespace {

using detail::KeptRuns;
using detail::RunPart;
using detail::UnitKind;

constexpr std::size_t kUnit = detail::UnitMap::kUnitBytes;
constexpr std::size_t kRoomy = std::size_t{1} << 30;

class KeptBlocks : public testing::Test {
protected:
    MemoryBlock take(std::size_t units) {
        const auto block = heap_->allocate(units * kUnit);
        EXPECT_TRUE(block);
        return block ? *block : MemoryBlock{};
    }
    void free_all(std::initializer_list<MemoryBlock> blocks) {
        for (const MemoryBlock& block : blocks)
            heap_->deallocate(block);
    }
    detail::HeapCore& core() { return *open<KeptCore>(*heap_); }
    std::size_t taken_units() { return core().taken_bytes() / kUnit; }
    std::size_t kept_units() { return open<KeptHeaps>(core()).load()->kept_units(); }

    Expected<SmallObjectAllocator> heap_ = SmallObjectAllocator::create({.max_bytes = kRoomy});
};

TEST_F(KeptBlocks, AThreadGetsBackWhatItFreed) {
    const MemoryBlock block = take(5);
    heap_->deallocate(block);
    EXPECT_EQ(kept_units(), 5U);
    EXPECT_EQ(heap_->counts().cached_bytes, 5 * kUnit);
    EXPECT_EQ(heap_->stats().live_bytes, 0U);
    EXPECT_EQ(heap_->stats().live_blocks, 0U);
    EXPECT_EQ(heap_->check(), Status::ok);
    EXPECT_EQ(take(5).data, block.data);
    EXPECT_EQ(kept_units(), 0U);
    EXPECT_EQ(heap_->stats().live_bytes, 5 * kUnit);
    EXPECT_EQ(heap_->stats().allocations, 2U);
    heap_->deallocate(block);
    EXPECT_EQ(heap_->stats().allocations, 2U);
    EXPECT_EQ(taken_units(), 5U);
}

TEST_F(KeptBlocks, NeighboursBecomeOneAndAreCutAgain) {
    const MemoryBlock first = take(2);
    const MemoryBlock second = take(3);
    const MemoryBlock third = take(4);
    ASSERT_EQ(first.data + 2 * kUnit, second.data);
    ASSERT_EQ(second.data + 3 * kUnit, third.data);
    free_all({first, third, second});
    ASSERT_EQ(heap_->check(), Status::ok);
    EXPECT_EQ(take(9).data, first.data);
    ASSERT_EQ(heap_->check(), Status::ok);
    heap_->deallocate({first.data, 9 * kUnit});
    // The smallest that fits is cut, at its front.
    const MemoryBlock front = take(4);
    EXPECT_EQ(front.data, first.data);
    EXPECT_EQ(kept_units(), 5U);
    ASSERT_EQ(heap_->check(), Status::ok);
    const MemoryBlock back = take(5);
    EXPECT_EQ(back.data, front.data + 4 * kUnit);
    ASSERT_EQ(heap_->check(), Status::ok);
    free_all({back, front});
    EXPECT_EQ(heap_->stats().live_bytes, 0U);
    EXPECT_EQ(heap_->check(), Status::ok);
}

TEST_F(KeptBlocks, TheSmallestThatFitsIsTaken) {
    const MemoryBlock six = take(6);
    const MemoryBlock between = take(2);
    const MemoryBlock four = take(4);
    const MemoryBlock behind = take(2);
    free_all({six, four});
    EXPECT_EQ(take(3).data, four.data);
    EXPECT_EQ(take(6).data, six.data);
    free_all({between, behind});
    EXPECT_EQ(heap_->check(), Status::ok);
}

TEST_F(KeptBlocks, ABlockGrowsOverWhatItsThreadKeeps) {
    const MemoryBlock block = take(2);
    const MemoryBlock behind = take(4);
    const MemoryBlock last = take(2);
    ASSERT_EQ(block.data + 2 * kUnit, behind.data);
    heap_->deallocate(behind);
    const std::size_t allocations = heap_->stats().allocations;
    const auto grown = heap_->try_resize(block, 5 * kUnit, kDefaultAlignment);
    ASSERT_TRUE(grown);
    EXPECT_EQ(grown->size, 5 * kUnit);
    EXPECT_EQ(kept_units(), 1U);
    EXPECT_EQ(heap_->stats().allocations, allocations);
    EXPECT_EQ(heap_->check(), Status::ok);
    EXPECT_FALSE(heap_->try_resize(*grown, 7 * kUnit, kDefaultAlignment));
    free_all({*grown, last});
    EXPECT_EQ(heap_->check(), Status::ok);
}

TEST_F(KeptBlocks, ABlockGrowsOverWhatIsKeptAndWhatIsFreeBehindIt) {
    const MemoryBlock block = take(2);
    const MemoryBlock behind = take(4);
    // Too large to be kept.
    const MemoryBlock free = take(KeptRuns::kMostUnits + 1);
    const MemoryBlock last = take(2);
    ASSERT_EQ(behind.data + 4 * kUnit, free.data);
    ASSERT_EQ(free.data + free.size, last.data);
    free_all({behind, free});
    ASSERT_EQ(kept_units(), 4U);
    EXPECT_FALSE(heap_->try_resize(block, 7 * kUnit + free.size, kDefaultAlignment));
    EXPECT_EQ(kept_units(), 4U);
    const auto grown = heap_->try_resize(block, 9 * kUnit, kDefaultAlignment);
    ASSERT_TRUE(grown);
    EXPECT_EQ(grown->size, 9 * kUnit);
    EXPECT_EQ(kept_units(), 0U);
    EXPECT_EQ(taken_units(), 9U + 2U);
    EXPECT_EQ(heap_->stats().live_bytes, 11 * kUnit);
    EXPECT_EQ(heap_->check(), Status::ok);
    free_all({*grown, last});
    EXPECT_EQ(heap_->check(), Status::ok);
}

TEST_F(KeptBlocks, OnlySoMuchStays) {
    std::vector<MemoryBlock> blocks;
    for (int count = 0; count < 200; ++count)
        blocks.push_back(take(3));
    // None beside another, so that the list is full before the units are many.
    for (std::size_t index = 0; index < blocks.size(); index += 2)
        heap_->deallocate(blocks[index]);
    EXPECT_LE(kept_units(), KeptRuns::kFirstUnits);
    EXPECT_GT(kept_units(), 0U);
    for (std::size_t index = 1; index < blocks.size(); index += 2)
        heap_->deallocate(blocks[index]);
    EXPECT_LE(kept_units(), KeptRuns::kFirstUnits);
    EXPECT_EQ(heap_->check(), Status::ok);
    EXPECT_EQ(taken_units(), kept_units());
}

TEST_F(KeptBlocks, WhoMissesWhatItGaveUpKeepsMore) {
    for (int round = 0; round < 20; ++round) {
        std::vector<MemoryBlock> blocks;
        for (int count = 0; count < 60; ++count)
            blocks.push_back(take(3));
        for (const MemoryBlock& block : blocks)
            heap_->deallocate(block);
        ASSERT_LE(kept_units(), core().most_kept_units());
    }
    EXPECT_GT(kept_units(), 2 * KeptRuns::kFirstUnits);
    EXPECT_EQ(heap_->check(), Status::ok);
}

TEST_F(KeptBlocks, APurgeReturnsThem) {
    const MemoryBlock block = take(8);
    std::memset(block.data, 1, block.size);
    heap_->deallocate(block);
    ASSERT_EQ(kept_units(), 8U);
    EXPECT_GE(heap_->purge().bytes, block.size);
    EXPECT_EQ(kept_units(), 0U);
    EXPECT_EQ(taken_units(), 0U);
    EXPECT_EQ(heap_->check(), Status::ok);
}

TEST_F(KeptBlocks, AResetForgetsThem) {
    free_all({take(4), take(4)});
    heap_->reset();
    EXPECT_EQ(taken_units(), 0U);
    EXPECT_EQ(heap_->check(), Status::ok);
    heap_->deallocate(take(4));
    EXPECT_EQ(heap_->check(), Status::ok);
}

TEST_F(KeptBlocks, LargeAlignmentsGetFreshUnits) {
    const auto is_even = [](const MemoryBlock& block) {
        return reinterpret_cast<std::uintptr_t>(block.data) % (2 * kUnit) == 0;
    };
    const MemoryBlock first = take(3);
    const MemoryBlock second = take(3);
    ASSERT_EQ(first.data + 3 * kUnit, second.data);
    const MemoryBlock odd = is_even(first) ? second : first;
    ASSERT_FALSE(is_even(odd));
    heap_->deallocate(odd);
    const auto block = heap_->allocate(2 * kUnit, 2 * kUnit);
    ASSERT_TRUE(block);
    EXPECT_TRUE(is_even(*block));
    EXPECT_EQ(kept_units(), 3U);
    heap_->deallocate(*block, 2 * kUnit);
    EXPECT_EQ(heap_->check(), Status::ok);
}

// As after a fork in the middle of a call: its units are free, and nobody can get what is in its list.
TEST_F(KeptBlocks, OfALostHeapDoNotCount) {
    heap_->deallocate(take(8));
    std::atomic<detail::ThreadHeap::State>& state = open<KeptHeaps>(core()).load()->state;
    state.store(detail::ThreadHeap::State::held);
    EXPECT_EQ(heap_->counts().cached_bytes, 0U);
    EXPECT_FALSE(core().take_back(8 * kUnit, core().ended_purges()));
    state.store(detail::ThreadHeap::State::owned);
    EXPECT_EQ(heap_->counts().cached_bytes, 8 * kUnit);
    EXPECT_TRUE(core().take_back(8 * kUnit, core().ended_purges()));
    EXPECT_EQ(kept_units(), 0U);
}

TEST(KeptBlocksOf, ABlockThatCannotBeKeptDrivesNothingOut) {
    // A 64th is 16 units.
    auto heap = SmallObjectAllocator::create({.max_bytes = std::size_t{64} << 20});
    ASSERT_TRUE(heap);
    const auto small = heap->allocate(4 * kUnit);
    const auto large = heap->allocate(20 * kUnit);
    ASSERT_TRUE(small && large);
    heap->deallocate(*small);
    ASSERT_EQ(heap->counts().cached_bytes, 4 * kUnit);
    heap->deallocate(*large);
    EXPECT_EQ(heap->counts().cached_bytes, 4 * kUnit);
    EXPECT_EQ(heap->check(), Status::ok);
}

TEST(KeptBlocksOf, HeapsThatShallKeepNothingKeepNothing) {
    auto small = SmallObjectAllocator::create({.max_bytes = std::size_t{32} << 20});
    auto eager = SmallObjectAllocator::create({.max_bytes = kRoomy, .purge_threshold_bytes = 0});
    ASSERT_TRUE(small && eager);
    for (SmallObjectAllocator* heap : {&*small, &*eager}) {
        heap->deallocate(*heap->allocate(64));
        heap->purge();
        heap->deallocate(*heap->allocate(4 * kUnit));
        EXPECT_EQ(heap->counts().cached_bytes, 0U);
    }
}

TEST_F(KeptBlocks, CheckFindsWhatIsWrong) {
    const MemoryBlock kept = take(4);
    const MemoryBlock live = take(3);
    heap_->deallocate(kept);
    const std::size_t unit = core().units().unit_of(kept.data);
    detail::Slab& record = open<KeptSlabs>(core())[unit];
    OURO_EXPECT_FOUND(*heap_, record.run_part, RunPart::live);
    OURO_EXPECT_FOUND(*heap_, record.run_part, RunPart::inside);
    OURO_EXPECT_FOUND(*heap_, record.owner, nullptr);
    OURO_EXPECT_FOUND(*heap_, record.capacity, 3U);
    OURO_EXPECT_FOUND(*heap_, record.run_place, 7U);
    OURO_EXPECT_FOUND(*heap_, (&record)[3].run_place, 7U);
    OURO_EXPECT_FOUND(*heap_, open<KeptKinds>(core())[unit], UnitKind::none);
    OURO_EXPECT_FOUND(*heap_, open<KeptSlabs>(core())[unit + 4].run_part, RunPart::kept);
    KeptRuns& runs = open<KeptRunsOf>(*open<KeptHeaps>(core()).load());
    OURO_EXPECT_FOUND(*heap_, open<KeptPlaces>(runs), 0U);
    OURO_EXPECT_FOUND(*heap_, open<KeptEnds>(runs)[0], unit + 3);
    OURO_EXPECT_FOUND(*heap_, open<KeptLimit>(runs), 2U);
    OURO_EXPECT_FOUND(*heap_, open<KeptLimit>(runs), 1'000'000U);
    OURO_EXPECT_FOUND(*heap_, open<KeptUnits>(runs), 5U);
    OURO_EXPECT_FOUND(*heap_, open<KeptSizes>(runs), 0U);
    OURO_EXPECT_FOUND(*heap_, open<KeptUnpromised>(core()), open<KeptUnpromised>(core()) + 1);
    heap_->deallocate(live);
}

// Blocks of any size in any order, each with its own bytes at both ends.
class RandomKeptBlocks : public KeptBlocks {
protected:
    struct Held {
        MemoryBlock block;
        std::byte mark{};
    };

    void stamp(const Held& held) {
        std::memset(held.block.data, static_cast<int>(held.mark), 64);
        std::memset(held.block.data + held.block.size - 64, static_cast<int>(held.mark), 64);
    }
    static bool is_sound(const Held& held) {
        const std::byte* const end = held.block.data + held.block.size;
        return held.block.data[0] == held.mark && held.block.data[63] == held.mark && end[-64] == held.mark &&
               end[-1] == held.mark;
    }
    void add(std::size_t bytes) {
        const auto block = heap_->allocate(bytes);
        ASSERT_TRUE(block);
        held_.push_back({*block, std::byte(random_())});
    }
    void resize_or_free(std::size_t bytes) {
        std::swap(held_[random_() % held_.size()], held_.back());
        ASSERT_TRUE(is_sound(held_.back()));
        const MemoryBlock block = held_.back().block;
        if (random_() % 4 == 0) {
            if (const auto resized = heap_->try_resize(block, bytes, kDefaultAlignment)) {
                held_.back().block = *resized;
                return;
            }
        }
        heap_->deallocate(block);
        held_.pop_back();
    }
    void step() {
        const std::size_t bytes = kUnit + 1 + random_() % (random_() % 8 == 0 ? 40 * kUnit : 12 * kUnit);
        if (held_.empty() || (held_.size() < 24 && random_() % 2 == 0)) {
            add(bytes);
        } else {
            resize_or_free(bytes);
        }
        if (!held_.empty()) stamp(held_.back());
    }

    unsigned seed_ = std::random_device{}();
    std::mt19937 random_{seed_};
    std::vector<Held> held_;
};

TEST_F(RandomKeptBlocks, KeepTheirBytes) {
    for (int number = 0; number < 20'000; ++number) {
        step();
        if (number % 16 == 0) {
            ASSERT_EQ(heap_->check(), Status::ok) << "seed " << seed_;
        }
        ASSERT_FALSE(HasFailure()) << "seed " << seed_ << ", step " << number;
        if (number % 3'000 == 0) heap_->purge();
    }
    for (const Held& held : held_)
        heap_->deallocate(held.block);
    EXPECT_EQ(heap_->stats().live_bytes, 0U);
    EXPECT_EQ(heap_->stats().live_blocks, 0U);
    EXPECT_EQ(taken_units(), kept_units());
    heap_->purge();
    EXPECT_EQ(taken_units(), 0U);
    EXPECT_EQ(heap_->check(), Status::ok) << "seed " << seed_;
}

}  // namespace
}  // namespace ouro::testing_support
