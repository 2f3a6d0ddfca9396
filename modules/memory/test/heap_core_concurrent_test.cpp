// What the threads of a small-object heap do to each other, one step at a time.
#include <ouro/memory/detail/heap_core.hpp>
#include <ouro/os/process_barrier.hpp>
#include <ouro/os/reservation.hpp>
#include <ouro/os/thread.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <gtest/gtest.h>

namespace {

using ouro::Status;
using ouro::detail::HeapCore;
using ouro::detail::ThreadHeap;
using ouro::detail::UnitMap;

constexpr std::size_t kUnits = 32;
constexpr unsigned kClass = 3;

template <class Callable>
ouro::os::Thread start(Callable& callable) {
    return *ouro::os::Thread::start([](void* argument) { (*static_cast<Callable*>(argument))(); }, &callable);
}

void wait_for(const std::atomic<bool>& flag) {
    while (!flag.load(std::memory_order_acquire))
        ouro::os::yield_thread();
}

class HeapCoreSteps : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_TRUE(units_.commit(0, units_.block().size));
        ASSERT_TRUE(metadata_.commit(0, metadata_.block().size));
        core_ = std::construct_at(
            reinterpret_cast<HeapCore*>(metadata_.block().data),
            HeapCore::Memory{.metadata = metadata_.block(), .units = units_.block(), .grows = false}, layout_,
            0U);
    }

    HeapCore::Layout layout_ = HeapCore::layout_for(kUnits, 4096);
    ouro::os::Reservation metadata_ = *ouro::os::Reservation::create({.bytes = layout_.bytes});
    ouro::os::Reservation units_ = *ouro::os::Reservation::create(
        {.bytes = kUnits * UnitMap::kUnitBytes, .alignment = UnitMap::kUnitBytes});
    HeapCore* core_ = nullptr;
};

TEST_F(HeapCoreSteps, WhoeverComesWhileAnotherEmptiesTheCachesTriesAgain) {
    const std::uint64_t before = core_->ended_purges();
    core_->purge();
    EXPECT_TRUE(core_->take_back(UnitMap::kUnitBytes, before));
    EXPECT_FALSE(core_->take_back(UnitMap::kUnitBytes, core_->ended_purges()));
}

TEST_F(HeapCoreSteps, AnEmptyingThatIsUnderWayIsWaitedFor) {
    // It does not wait for ever, and this thread may be kept from running: some time it is fast enough.
    constexpr int kTries = 200;
    bool was_waited_for = false;
    for (int attempt = 0; attempt < kTries && !was_waited_for; ++attempt) {
        const std::uint64_t before = core_->ended_purges();
        ASSERT_TRUE(core_->try_begin_purge());
        std::atomic<bool> is_asking = false;
        auto ask = [&] {
            is_asking.store(true, std::memory_order_release);
            was_waited_for = core_->take_back(UnitMap::kUnitBytes, before);
        };
        auto thread = start(ask);
        wait_for(is_asking);
        ouro::os::yield_thread();
        core_->end_purge();
        thread.join();
    }
    EXPECT_TRUE(was_waited_for);
}

// A thread that purges is stopped for ever while it has another's heap: that one goes on with a new heap.
TEST_F(HeapCoreSteps, AnOwnerLeavesAHeapThatIsNotRestored) {
    if (!ouro::os::process_barrier_available()) GTEST_SKIP() << "needs process_barrier";
    ThreadHeap* first = nullptr;
    ThreadHeap* second = nullptr;
    void* freed_to_nobody = nullptr;
    Status popped = Status::ok;
    bool was_pushed = true;
    std::atomic<bool> has_heap = false;
    std::atomic<bool> is_revoked = false;
    std::atomic<bool> is_done = false;
    auto own = [&] {
        first = *core_->heap_of_this_thread();
        freed_to_nobody = *first->pop_slow(kClass);
        has_heap.store(true, std::memory_order_release);
        wait_for(is_revoked);
        was_pushed = first->push_slow(kClass, freed_to_nobody);
        second = *core_->heap_of_this_thread();
        popped = second->pop_slow(kClass).status();
        is_done.store(true, std::memory_order_release);
    };
    auto thread = start(own);
    wait_for(has_heap);
    while (!first->try_revoke())
        ouro::os::yield_thread();
    is_revoked.store(true, std::memory_order_release);
    wait_for(is_done);
    thread.join();
    EXPECT_FALSE(was_pushed);
    EXPECT_NE(second, first);
    EXPECT_EQ(popped, Status::ok);
    EXPECT_EQ(core_->count().orphans, 0U);
    core_->send_home(kClass, freed_to_nobody);
    first->empty();
    first->restore();
    EXPECT_EQ(core_->count().orphans, 1U);
    // The next who needs one has it.
    EXPECT_EQ(*core_->heap_of_this_thread(), first);
    EXPECT_EQ(core_->check(), Status::ok);
}

}  // namespace
