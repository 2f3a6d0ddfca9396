#pragma once

#include "thread.h"

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

// Runs a function on several threads and joins them all. Nobody begins before all are there, so that
// short functions really run at the same time.
class Workers {
public:
    static constexpr std::size_t kStackBytes = 64 * 1024;

    template <typename Function>
    static int run(int count, Function function) {
        struct Call {
            Function* function;
            std::atomic<int>* missing;
            int index;

            static void enter(void* opaque) {
                const Call& call = *static_cast<Call*>(opaque);
                call.missing->fetch_sub(1);
                while (call.missing->load() > 0) {
                }
                (*call.function)(call.index);
            }
        };
        std::atomic<int> missing{count};
        std::vector<ouro_wasm_thread> threads(static_cast<std::size_t>(count));
        std::vector<Call> calls;
        std::vector<std::unique_ptr<std::byte[]>> blocks;
        const std::size_t bytes = ouro_wasm_thread_block_bytes(kStackBytes);
        calls.reserve(threads.size());
        int problems = 0;
        for (std::size_t i = 0; i < threads.size(); ++i) {
            calls.push_back({&function, &missing, static_cast<int>(i)});
            blocks.push_back(std::make_unique<std::byte[]>(bytes));
            const int status = ouro_wasm_thread_start(&threads[i], &Call::enter, &calls[i], blocks[i].get(),
                                                      bytes, "test worker");
            if (status != ouro_wasm_ok) ++problems;
        }
        for (ouro_wasm_thread& thread : threads) {
            if (ouro_wasm_thread_join(&thread) != ouro_wasm_ok) ++problems;
        }
        return problems;
    }
};
