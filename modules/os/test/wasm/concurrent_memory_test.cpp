#include <ouro/base/random.hpp>
#include <ouro/os/thread.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

#include <gtest/gtest.h>

namespace {

using ouro::MemoryBlock;
namespace os = ouro::os;

constexpr std::size_t kWorkers = 4;
constexpr std::size_t kHeld = 8;
constexpr int kSteps = 400;
constexpr std::uint64_t kSeed = 20'260'401;

// Takes and gives back ranges, each filled with the worker's own mark: a range that two workers hold, or one
// that did not read zero when it was committed, shows.
struct Worker {
    unsigned char mark = 0;
    ouro::Random random;
    std::array<MemoryBlock, kHeld> held{};
    int failures = 0;

    [[nodiscard]] bool holds(MemoryBlock block, unsigned char value) const {
        for (const std::byte byte : block.bytes()) {
            if (byte != std::byte{value}) return false;
        }
        return true;
    }

    void expect(bool right) { failures += right ? 0 : 1; }

    void take(MemoryBlock& slot) {
        const auto block = os::reserve({.bytes = (1 + random.below(6)) * os::page_size()});
        expect(block.has_value());
        if (!block) return;
        slot = *block;
        expect(os::commit(slot).has_value());
        expect(holds(slot, 0));
        std::memset(slot.data, mark, slot.size);
    }

    // Gives up a page of the range and takes it back, now zero.
    void renew(MemoryBlock slot) {
        const MemoryBlock page = slot.sub(slot.size - os::page_size(), os::page_size());
        expect(os::decommit(page).has_value());
        expect(os::commit(page).has_value());
        expect(holds(page, 0));
        std::memset(page.data, mark, page.size);
    }

    void give_back(MemoryBlock& slot) {
        expect(holds(slot, mark));
        expect(os::release(slot).has_value());
        slot = {};
    }

    void run() {
        for (int step = 0; step < kSteps; ++step) {
            MemoryBlock& slot = held[random.below(kHeld)];
            if (slot.is_null()) {
                take(slot);
            } else if (random.chance(0.3)) {
                renew(slot);
            } else {
                give_back(slot);
            }
        }
        for (MemoryBlock& slot : held) {
            if (!slot.is_null()) give_back(slot);
        }
    }
};

TEST(ConcurrentMemory, RangesOfSeveralWorkersDoNotOverlap) {
    SCOPED_TRACE(kSeed);
    std::array<Worker, kWorkers> workers;
    std::array<os::Thread, kWorkers> threads;
    for (std::size_t i = 0; i < kWorkers; ++i) {
        workers[i].mark = static_cast<unsigned char>(i + 1);
        workers[i].random = ouro::Random(kSeed, i);
        auto started =
            os::Thread::start([](void* worker) { static_cast<Worker*>(worker)->run(); }, &workers[i]);
        ASSERT_TRUE(started);
        threads[i] = *std::move(started);
    }
    for (os::Thread& thread : threads)
        thread.join();
    for (const Worker& worker : workers)
        EXPECT_EQ(worker.failures, 0);
}

}  // namespace
