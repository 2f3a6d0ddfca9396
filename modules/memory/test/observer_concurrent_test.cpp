// Observers, tags and the registry of blocks while several threads use them.
#include "workers.hpp"

#include <ouro/memory/block_registry.hpp>
#include <ouro/memory/observer.hpp>
#include <ouro/memory/tag.hpp>

#include <array>
#include <atomic>
#include <memory>
#include <string>

#include <gtest/gtest.h>

namespace {

using ouro::BlockInfo;
using ouro::MemoryEvent;
using ouro::MemoryObserver;
using ouro::testing_support::run_workers;

// Plain data that is only safe to touch while the observer is there; ThreadSanitizer and the mark see a call
// that comes too late.
struct Watched final : MemoryObserver {
    void on_allocate(const MemoryEvent& event) noexcept override {
        if (!alive.load(std::memory_order_relaxed)) late_calls.fetch_add(1);
        if (*payload != 42) late_calls.fetch_add(1);
        calls.fetch_add(1, std::memory_order_relaxed);
        bytes.fetch_add(event.asked_bytes, std::memory_order_relaxed);
    }

    std::unique_ptr<int> payload = std::make_unique<int>(42);
    std::atomic<bool> alive{true};
    std::atomic<std::uint64_t> calls{0};
    std::atomic<std::uint64_t> bytes{0};
    static inline std::atomic<std::uint64_t> late_calls{0};
};

TEST(ObserverConcurrent, IsNotCalledAfterItsRemoval) {
    Watched::late_calls = 0;
    std::atomic<int> at_work{2};
    std::atomic<std::uint64_t> heard{0};
    run_workers(4, [&](std::size_t worker) {
        if (worker < 2) {
            for (int i = 0; at_work.load(std::memory_order_relaxed) != 0; ++i) {
                ouro::raise(&MemoryObserver::on_allocate, {.asked_bytes = 1});
                if (i % 256 == 0) ouro::os::yield_thread();
            }
            return;
        }
        for (int round = 0; round < 300; ++round) {
            auto observer = std::make_unique<Watched>();
            ASSERT_TRUE(ouro::add_observer(*observer));
            // Some are there long enough to hear something for sure.
            while (round % 10 == 0 && observer->calls.load(std::memory_order_relaxed) == 0)
                ouro::os::yield_thread();
            ASSERT_TRUE(ouro::remove_observer(*observer));
            observer->alive = false;
            *observer->payload = 0;
            heard.fetch_add(observer->calls);
        }
        at_work.fetch_sub(1);
    });
    EXPECT_EQ(Watched::late_calls, 0U);
    EXPECT_GE(heard, 30U);
    EXPECT_FALSE(ouro::has_observers());
}

TEST(ObserverConcurrent, NoEventIsLostWhileItStays) {
    Watched observer;
    ASSERT_TRUE(ouro::add_observer(observer));
    run_workers(4, [](std::size_t worker) {
        for (int i = 0; i < 5000; ++i)
            ouro::raise(&MemoryObserver::on_allocate, {.asked_bytes = worker});
    });
    ASSERT_TRUE(ouro::remove_observer(observer));
    EXPECT_EQ(observer.calls, 20'000U);
    EXPECT_EQ(observer.bytes, 5000U * (0 + 1 + 2 + 3));
}

// Two observers that remove each other and themselves from their callbacks must not wait for one another.
struct Remover final : MemoryObserver {
    void on_allocate(const MemoryEvent& /*event*/) noexcept override {
        (void)ouro::remove_observer(*other);
        (void)ouro::remove_observer(*this);
    }
    MemoryObserver* other = nullptr;
};

TEST(ObserverConcurrent, RemovalsFromCallbacksDoNotDeadlock) {
    for (int round = 0; round < 200; ++round) {
        std::array<Remover, 2> pair;
        pair[0].other = &pair[1];
        pair[1].other = &pair[0];
        ASSERT_TRUE(ouro::add_observer(pair[0]));
        ASSERT_TRUE(ouro::add_observer(pair[1]));
        run_workers(2, [](std::size_t) {
            for (int i = 0; i < 10; ++i)
                ouro::raise(&MemoryObserver::on_allocate, {});
        });
        ASSERT_FALSE(ouro::has_observers());
    }
}

TEST(TagConcurrent, AllThreadsGetTheSameTag) {
    constexpr std::size_t kNames = 50;
    std::array<std::array<ouro::Tag, kNames>, 4> tags{};
    run_workers(4, [&](std::size_t worker) {
        ouro::Tag parent;
        for (std::size_t i = 0; i < kNames; ++i) {
            const std::string name = "concurrent tag " + std::to_string(i);
            const auto tag = ouro::register_tag(name, parent);
            ASSERT_TRUE(tag);
            ASSERT_EQ(ouro::tag_name(*tag), name);
            ASSERT_EQ(ouro::tag_parent(*tag), parent);
            ASSERT_EQ(ouro::find_tag(name).value(), *tag);
            tags[worker][i] = *tag;
            parent = i % 5 == 0 ? *tag : parent;
        }
    });
    for (const auto& others : tags)
        EXPECT_EQ(others, tags[0]);
}

// An entry whose numbers belong together: a reader must never see a mix of two owners.
TEST(BlockRegistryConcurrent, ReadersSeeWholeEntries) {
    constexpr std::size_t kWriters = 3;
    std::atomic<std::size_t> writing{kWriters};
    std::atomic<std::uint64_t> seen{0};
    run_workers(1 + kWriters, [&](std::size_t worker) {
        if (worker == 0) {
            while (writing != 0) {
                ouro::visit_blocks([&](const BlockInfo& block) {
                    if (!block.name().starts_with("owner")) return;
                    seen.fetch_add(1, std::memory_order_relaxed);
                    const std::string name = "owner" + std::to_string(block.reserved_bytes);
                    ASSERT_EQ(block.name(), name);
                    ASSERT_EQ(block.base, block.reserved_bytes);
                    ASSERT_EQ(block.tag.id(), block.reserved_bytes % 1000);
                });
                ouro::os::yield_thread();
            }
            return;
        }
        // The reader may start late: entries come and go until it has met one.
        for (std::size_t i = 0; i < 3000 || seen == 0; ++i) {
            const std::size_t number = worker * 10'000 + i % 3000;
            const std::string name = "owner" + std::to_string(number);
            ouro::BlockRegistration entry(
                {.name = name,
                 .tag = ouro::Tag::from_id(static_cast<std::uint16_t>(number % 1000)),
                 .base = reinterpret_cast<const void*>(number),
                 .reserved_bytes = number});
            EXPECT_TRUE(entry.is_listed());
            entry.update(i, i / 2);
            if (i % 64 == 0) ouro::os::yield_thread();
        }
        --writing;
    });
    EXPECT_GT(seen, 0U);
}

}  // namespace
