#include <ouro/memory/block_registry.hpp>
#include <ouro/memory/frame_allocator.hpp>
#include <ouro/memory/observer.hpp>

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::add_observer;
using ouro::BlockInfo;
using ouro::MemoryEvent;
using ouro::MemoryObserver;
using ouro::remove_observer;
using ouro::Status;

struct Recorder final : MemoryObserver {
    void on_allocate(const MemoryEvent& event) noexcept override { sizes.push_back(event.asked_bytes); }
    void on_block_registered(const BlockInfo& block) noexcept override { note("+", block); }
    void on_block_changed(const BlockInfo& block) noexcept override { note("=", block); }
    void on_block_removed(const BlockInfo& block) noexcept override { note("-", block); }

    void note(const char* what, const BlockInfo& block) {
        log += what;
        log += block.name();
        log += ' ';
    }

    std::vector<std::size_t> sizes;
    std::string log;
};

void raise_allocation(std::size_t size) {
    ouro::raise(&MemoryObserver::on_allocate, {.asked_bytes = size});
}

TEST(Observer, HearsEventsWhileItIsThere) {
    Recorder recorder;
    raise_allocation(1);
    EXPECT_FALSE(ouro::has_observers());
    ASSERT_TRUE(add_observer(recorder));
    EXPECT_TRUE(ouro::has_observers());
    raise_allocation(2);
    raise_allocation(3);
    ASSERT_TRUE(remove_observer(recorder));
    raise_allocation(4);
    EXPECT_EQ(recorder.sizes, (std::vector<std::size_t>{2, 3}));
    EXPECT_FALSE(ouro::has_observers());
}

TEST(Observer, TheTableIsBoundedAndEachIsThereOnce) {
    std::vector<Recorder> recorders(ouro::kMaxObservers + 1);
    EXPECT_EQ(remove_observer(recorders[0]).status(), Status::not_found);
    for (std::size_t i = 0; i < ouro::kMaxObservers; ++i)
        ASSERT_TRUE(add_observer(recorders[i]));
    EXPECT_EQ(add_observer(recorders[0]).status(), Status::bad_argument);
    EXPECT_EQ(add_observer(recorders.back()).status(), Status::capacity_exhausted);
    raise_allocation(7);
    ASSERT_TRUE(remove_observer(recorders[3]));
    ASSERT_TRUE(add_observer(recorders.back()));
    raise_allocation(8);
    EXPECT_EQ(recorders[3].sizes.size(), 1U);
    EXPECT_EQ(recorders.back().sizes, (std::vector<std::size_t>{8}));
    recorders[3].sizes.clear();
    for (Recorder& recorder : recorders) {
        const bool was_removed = &recorder == &recorders[3];
        EXPECT_EQ(remove_observer(recorder).has_value(), !was_removed);
    }
}

// Removes itself and adds another from inside a callback, and allocates there: no event of its own.
struct Restless final : MemoryObserver {
    explicit Restless(MemoryObserver& successor_) : successor(successor_) {}
    void on_allocate(const MemoryEvent& event) noexcept override {
        ++calls;
        raise_allocation(event.asked_bytes + 1);
        removed = remove_observer(*this).status();
        added = add_observer(successor).status();
    }

    MemoryObserver& successor;
    int calls = 0;
    Status removed = Status::busy;
    Status added = Status::busy;
};

TEST(Observer, MayChangeTheTableFromACallback) {
    Recorder successor;
    Restless restless(successor);
    ASSERT_TRUE(add_observer(restless));
    raise_allocation(1);
    raise_allocation(10);
    EXPECT_EQ(restless.calls, 1);
    EXPECT_EQ(restless.removed, Status::ok);
    EXPECT_EQ(restless.added, Status::ok);
    ASSERT_FALSE(successor.sizes.empty());
    EXPECT_EQ(successor.sizes.back(), 10U);
    ASSERT_TRUE(remove_observer(successor));
}

TEST(Observer, HearsOfBlocks) {
    Recorder recorder;
    ASSERT_TRUE(add_observer(recorder));
    {
        auto frame = ouro::FrameAllocator::create({.name = "heard", .max_bytes = std::size_t{1} << 20});
        ASSERT_TRUE(frame);
        ASSERT_TRUE(frame->allocate(100));
        ASSERT_TRUE(frame->allocate(100));
    }
    ASSERT_TRUE(remove_observer(recorder));
    EXPECT_EQ(recorder.log, "+heard =heard -heard ");
}

}  // namespace
