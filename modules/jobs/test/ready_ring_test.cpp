#include "ready_ring.hpp"

#include "task_stack.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace ouro::detail {
namespace {

using Tasks = std::vector<std::uint32_t>;

Tasks tasks_of(const TaskBatch& batch) {
    return {batch.tasks().begin(), batch.tasks().end()};
}

TEST(ReadyRing, GivesTheNewestToItsParticipantAndTheOlderHalfToOthers) {
    ReadyRing ring;
    EXPECT_EQ(ring.take(), kNoTask);
    TaskBatch stolen;
    ring.steal(stolen);
    EXPECT_TRUE(stolen.is_empty());
    ASSERT_TRUE(ring.put(Tasks{1, 2, 3, 4, 5}));
    EXPECT_EQ(ring.take(), 5U);
    ring.steal(stolen);
    EXPECT_EQ(tasks_of(stolen), (Tasks{1, 2}));
    EXPECT_EQ(ring.take(), 4U);
    stolen.clear();
    ring.steal(stolen);
    EXPECT_EQ(tasks_of(stolen), (Tasks{3}));
    EXPECT_TRUE(ring.is_empty());
    EXPECT_EQ(ring.take(), kNoTask);
}

TEST(ReadyRing, RefusesWhatFindsNoRoomAndGoesAroundForEver) {
    ReadyRing ring;
    const Tasks all(ReadyRing::kCapacity, 7);
    ASSERT_TRUE(ring.put(all));
    EXPECT_FALSE(ring.put(Tasks{8}));
    TaskBatch stolen;
    ring.steal(stolen);
    EXPECT_EQ(stolen.size(), ReadyRing::kCapacity / 2);
    // Beyond what 16 bits count.
    for (std::uint32_t i = 0; i < 200'000; ++i) {
        ASSERT_TRUE(ring.put(Tasks{i}));
        if (i % 2 == 0) {
            ASSERT_EQ(ring.take(), i);
        } else {
            stolen.clear();
            ring.steal(stolen);
            ASSERT_FALSE(stolen.is_empty());
            while (ring.take() != kNoTask) {
            }
        }
    }
    EXPECT_TRUE(ring.is_empty());
}

TEST(TaskStack, GivesBatchesBackTheNewestFirst) {
    std::vector<TaskNode> tasks(10);
    TaskStack stack;
    EXPECT_TRUE(stack.is_empty());
    stack.put(tasks, Tasks{0, 1, 2});
    stack.put(tasks, Tasks{9});
    TaskBatch batch;
    stack.take(tasks, batch);
    EXPECT_EQ(tasks_of(batch), (Tasks{9}));
    // The same task again, under another one.
    stack.put(tasks, Tasks{9, 4});
    batch.clear();
    stack.take(tasks, batch);
    EXPECT_EQ(tasks_of(batch), (Tasks{9, 4}));
    batch.clear();
    stack.take(tasks, batch);
    EXPECT_EQ(tasks_of(batch), (Tasks{0, 1, 2}));
    batch.clear();
    stack.take(tasks, batch);
    EXPECT_TRUE(batch.is_empty());
    EXPECT_TRUE(stack.is_empty());
}

}  // namespace
}  // namespace ouro::detail
