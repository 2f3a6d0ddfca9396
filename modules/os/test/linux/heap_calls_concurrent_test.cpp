#include "sample_library.hpp"

#include <ouro/os/heap_calls.hpp>

#include <array>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <thread>

namespace {

using ouro::os::HeapCall;
using ouro::os::HeapCallWatch;
using ouro::os::testing_support::SampleLibrary;

constexpr std::size_t kOwnBytes = 16;
constexpr std::size_t kOthersBytes = 32;

// What one watch tells. Dies with it, so that a call that is told afterwards is one on freed memory.
struct Told {
    std::atomic<std::uint64_t> own = 0;
    std::atomic<std::uint64_t> others = 0;
    std::atomic<std::uint64_t> touches = 0;
};

void count_call(void* context, const HeapCall& call) {
    auto& told = *static_cast<Told*>(context);
    if (call.bytes == kOwnBytes) {
        ++told.own;
        return;
    }
    ++told.others;
    // Takes its time, so that some thread is here when a watch ends.
    for (int touch = 0; touch < 100; ++touch)
        ++told.touches;
}

// Threads that are in the library all the time.
class Callers {
public:
    explicit Callers(void* (*take)(std::size_t)) {
        for (std::thread& thread : threads_) {
            thread = std::thread([this, take] {
                while (!stops_) {
                    std::free(take(kOthersBytes));
                    ++calls_;
                }
            });
        }
    }
    ~Callers() {
        stops_ = true;
        for (std::thread& thread : threads_)
            thread.join();
    }
    Callers(const Callers&) = delete;
    Callers& operator=(const Callers&) = delete;

    [[nodiscard]] std::uint64_t calls() const { return calls_; }

private:
    std::atomic<bool> stops_ = false;
    std::atomic<std::uint64_t> calls_ = 0;
    std::array<std::thread, 3> threads_;
};

// Watches come and go while threads are in the library. Only the last one waits for those threads: a busy
// machine lets a thread wait for long until others had their turns, so that waiting in every round takes
// long there.
TEST(HeapCallsOfThreads, AreToldUntilTheEndAndNotAfterIt) {
    constexpr int kRounds = 100;
    for (const char* path : {OURO_SAMPLE_NOW, OURO_SAMPLE_LAZY}) {
        const SampleLibrary library(path);
        const auto take = library.function<void*(std::size_t)>("sample_malloc");
        const std::string_view whole = path;
        const std::array<std::string_view, 1> names = {
            {{whole.data() + whole.rfind('/') + 1, whole.size() - whole.rfind('/') - 1}}};
        // Bound now: not by one of the threads, at the moment when the watch begins.
        std::free(take(kOwnBytes));
        const Callers callers(take);
        while (callers.calls() == 0)
            std::this_thread::yield();
        for (int round = 1; round <= kRounds; ++round) {
            auto told = std::make_unique<Told>();
            const auto watch = HeapCallWatch::create(names, count_call, told.get());
            ASSERT_TRUE(watch) << ouro::status_name(watch.status());
            for (int call = 0; call < 10; ++call)
                std::free(take(kOwnBytes));
            ASSERT_EQ(told->own, 10U);
            if (round < kRounds) continue;
            // Each may have been in one call that began before the watch did.
            const std::uint64_t enough = callers.calls() + 100;
            while (callers.calls() < enough)
                std::this_thread::yield();
            ASSERT_GE(told->others, 90U);
        }
    }
}

}  // namespace
