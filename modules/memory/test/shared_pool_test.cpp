// Objects that one thread makes and any thread destroys.
#include <ouro/memory/frame_allocator.hpp>
#include <ouro/memory/pool.hpp>
#include <ouro/os/thread.hpp>

#include <array>
#include <atomic>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::Handle;
using ouro::Pool;
using ouro::SharedPool;
using ouro::Status;
using ouro::os::Thread;

std::atomic<int> alive{0};

struct Message {
    explicit Message(std::uint64_t given) : number(given), copy(given) { alive.fetch_add(1); }
    ~Message() {
        EXPECT_EQ(number, copy);
        copy = ~number;
        alive.fetch_sub(1);
    }
    Message(const Message&) = delete;
    Message& operator=(const Message&) = delete;

    std::uint64_t number;
    std::uint64_t copy;
};

using Messages = SharedPool<Message>;
using MessageHandle = Handle<Message>;

TEST(SharedPool, IsAPoolForItsOwner) {
    auto pool = Messages::create({.max_objects = 100});
    ASSERT_TRUE(pool && pool->is_owner());
    const auto one = pool->emplace(1U);
    const auto two = pool->make(2U);
    ASSERT_TRUE(one && two);
    EXPECT_EQ(pool->get(*one)->number, 1U);
    EXPECT_EQ(pool->handle_of(*two).index(), 1U);
    const auto gone = pool->handle_of(*two);
    pool->destroy(*two);
    EXPECT_EQ(pool->destroy(gone), Status::stale_handle);
    EXPECT_EQ(pool->destroy(MessageHandle(99, 1)), Status::stale_handle);
    EXPECT_EQ(pool->destroy(MessageHandle(MessageHandle::kMaxIndex, 1)), Status::stale_handle);
    EXPECT_EQ(pool->get(gone), nullptr);
    EXPECT_EQ(pool->count(), 1U);
    EXPECT_EQ(pool->pool_stats().remote_frees, 0U);
    Messages moved = *std::move(pool);
    EXPECT_TRUE(moved.is_owner());
    EXPECT_EQ(moved.get(*one)->number, 1U);
    unsigned visited = 0;
    for (const Message& message : std::as_const(moved))
        visited += message.number == 1 ? 1U : 100U;
    EXPECT_EQ(visited, 1U);
    EXPECT_EQ(moved.check(), Status::ok);
    moved.clear();
    EXPECT_EQ(alive.load(), 0);
}

TEST(SharedPool, OnMemoryOfAnother) {
    auto frame = ouro::FrameAllocator::create({.max_bytes = std::size_t{1} << 20});
    ASSERT_TRUE(frame);
    auto pool = Messages::create_on(*frame, {.max_objects = 10});
    ASSERT_TRUE(pool);
    const auto handle = pool->emplace(7U);
    ASSERT_TRUE(handle);
    EXPECT_EQ(pool->destroy(*handle), Status::ok);
    EXPECT_EQ(pool->destroy(*handle), Status::stale_handle);
}

// Destroys by handles that others were given too.
struct Reader {
    Messages* pool = nullptr;
    const std::vector<MessageHandle>* handles = nullptr;
    unsigned destroyed = 0;
    unsigned stale = 0;

    static void run(void* argument) {
        auto& self = *static_cast<Reader*>(argument);
        for (const MessageHandle handle : *self.handles) {
            const Status status = self.pool->destroy(handle);
            ++(status == Status::ok ? self.destroyed : self.stale);
            EXPECT_EQ(self.pool->get(handle), nullptr);
        }
    }
};

TEST(SharedPool, OfAllWhoDestroyByAHandleOneSucceeds) {
    constexpr unsigned kObjects = 2000;
    auto pool = Messages::create({.max_objects = kObjects});
    ASSERT_TRUE(pool);
    for (std::uint64_t round = 1; round <= 10; ++round) {
        std::vector<MessageHandle> handles;
        for (unsigned i = 0; i < kObjects; ++i)
            handles.push_back(*pool->emplace(i));
        EXPECT_EQ(pool->emplace(0U).status(), Status::capacity_exhausted);
        std::array<Reader, 3> readers;
        std::array<Thread, 3> threads;
        for (std::size_t i = 0; i < threads.size(); ++i) {
            readers[i] = {.pool = &*pool, .handles = &handles};
            threads[i] = *Thread::start(Reader::run, &readers[i]);
        }
        Reader own{.pool = &*pool, .handles = &handles};
        Reader::run(&own);
        unsigned destroyed = own.destroyed;
        unsigned stale = own.stale;
        for (std::size_t i = 0; i < threads.size(); ++i) {
            threads[i].join();
            destroyed += readers[i].destroyed;
            stale += readers[i].stale;
        }
        EXPECT_EQ(destroyed, kObjects);
        EXPECT_EQ(stale, 3 * kObjects);
        EXPECT_EQ(alive.load(), 0);
        EXPECT_EQ(pool->count(), 0U);
        EXPECT_EQ(pool->check(), Status::ok);
    }
    EXPECT_EQ(pool->pool_stats().fresh, kObjects);
}

// The owner makes while the other destroys. A handle that was used up is stale at once and stays so, whatever
// lives in its slot by then.
struct Trays {
    static constexpr std::uint64_t kMessages = 5000;
    static constexpr std::size_t kTrays = 64;

    Messages& pool;
    std::array<std::atomic<std::uint64_t>, kTrays> handle_bits{};
    std::uint64_t sum = 0;

    static void run(void* argument) {
        auto& self = *static_cast<Trays*>(argument);
        MessageHandle last;
        for (std::uint64_t i = 0; i < kMessages; ++i) {
            std::atomic<std::uint64_t>& tray = self.handle_bits[i % kTrays];
            std::uint64_t bits = 0;
            while ((bits = tray.exchange(0, std::memory_order_acquire)) == 0)
                ouro::os::yield_thread();
            const auto handle = MessageHandle::from_bits(bits);
            EXPECT_EQ(self.pool.get(last), nullptr);
            self.sum += self.pool.get(handle)->number;
            if (i % 2 == 0) {
                EXPECT_EQ(self.pool.destroy(handle), Status::ok);
            } else {
                self.pool.destroy(self.pool.get(handle));
            }
            last = handle;
        }
    }
};

TEST(SharedPool, TheOwnerMakesWhileAnotherDestroys) {
    auto pool = Messages::create({.max_objects = 200, .shrink_threshold = 0.5});
    ASSERT_TRUE(pool);
    Trays trays{.pool = *pool};
    auto reader = Thread::start(Trays::run, &trays);
    ASSERT_TRUE(reader);
    for (std::uint64_t i = 0; i < Trays::kMessages; ++i) {
        auto made = pool->emplace(i);
        for (; !made; made = pool->emplace(i))
            ouro::os::yield_thread();
        std::atomic<std::uint64_t>& tray = trays.handle_bits[i % Trays::kTrays];
        while (tray.load(std::memory_order_relaxed) != 0)
            ouro::os::yield_thread();
        tray.store(made->bits(), std::memory_order_release);
    }
    reader->join();
    EXPECT_EQ(trays.sum, Trays::kMessages * (Trays::kMessages - 1) / 2);
    EXPECT_EQ(pool->pool_stats().remote_frees, Trays::kMessages);
    EXPECT_EQ(pool->count(), 0U);
    EXPECT_EQ(pool->check(), Status::ok);
}

struct NewOwner {
    Messages& pool;
    static void run(void* argument) {
        auto& self = *static_cast<NewOwner*>(argument);
        EXPECT_FALSE(self.pool.is_owner());
        self.pool.bind_to_this_thread();
        EXPECT_TRUE(self.pool.is_owner());
        EXPECT_TRUE(self.pool.emplace(9U));
    }
};

// Makes a pool, or only looks at it, on a thread that then ends.
struct Visitor {
    std::optional<Messages> pool;
    Message* made = nullptr;
    bool is_owner = false;

    static void make(void* argument) {
        auto& self = *static_cast<Visitor*>(argument);
        self.pool = *Messages::create({.max_objects = 50});
        self.made = *self.pool->make(1U);
    }
    static void destroy(void* argument) {
        auto& self = *static_cast<Visitor*>(argument);
        self.is_owner = self.pool->is_owner();
        self.pool->destroy(self.made);
    }
};

// The system gives the stack of a thread that has ended, and all that belongs to it, to the next: it must not
// be taken for the same.
TEST(SharedPool, NobodyInheritsAPoolFromAThreadThatHasEnded) {
    Visitor visitor;
    Thread::start(Visitor::make, &visitor)->join();
    Thread::start(Visitor::destroy, &visitor)->join();
    EXPECT_FALSE(visitor.is_owner);
    visitor.pool->bind_to_this_thread();
    EXPECT_EQ(visitor.pool->pool_stats().remote_frees, 1U);
    EXPECT_EQ(visitor.pool->count(), 0U);
    EXPECT_EQ(visitor.pool->check(), Status::ok);
}

TEST(SharedPool, AnotherThreadBecomesTheOwner) {
    auto pool = Messages::create({.max_objects = 50});
    ASSERT_TRUE(pool);
    NewOwner owner{.pool = *pool};
    Thread::start(NewOwner::run, &owner)->join();
    EXPECT_FALSE(pool->is_owner());
    EXPECT_EQ(pool->count(), 1U);
}

}  // namespace
