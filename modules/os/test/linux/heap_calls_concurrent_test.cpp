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

// Watches come and go while threads are in the library. What a watch tells dies with it, so that a call that
// is told afterwards is one on freed memory.
TEST(HeapCallsOfThreads, AreToldUntilTheEndAndNotAfterIt) {
    for (const char* path : {OURO_SAMPLE_NOW, OURO_SAMPLE_LAZY}) {
        const SampleLibrary library(path);
        const auto take = library.function<void*(std::size_t)>("sample_malloc");
        const std::string_view whole = path;
        const std::array<std::string_view, 1> names = {
            {{whole.data() + whole.rfind('/') + 1, whole.size() - whole.rfind('/') - 1}}};
        // Bound now: not by one of the threads, at the moment when the watch begins.
        std::free(take(16));
        std::atomic<bool> stops = false;
        std::array<std::thread, 3> threads;
        for (std::thread& thread : threads) {
            thread = std::thread([&] {
                while (!stops)
                    std::free(take(16));
            });
        }
        for (int round = 0; round < 50; ++round) {
            auto told = std::make_unique<std::atomic<std::uint64_t>>(0);
            const auto watch = HeapCallWatch::create(
                names,
                [](void* context, const HeapCall& call) {
                    *static_cast<std::atomic<std::uint64_t>*>(context) += call.bytes;
                },
                told.get());
            ASSERT_TRUE(watch) << ouro::status_name(watch.status());
            // The threads go on until they are stopped, so this is reached.
            while (*told < 160)
                std::this_thread::yield();
        }
        stops = true;
        for (std::thread& thread : threads)
            thread.join();
    }
}

}  // namespace
