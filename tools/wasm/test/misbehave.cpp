// Ends in the way that its argument names; test/runner_test.mjs looks at how the run was reported.
#include "workers.hpp"

#include <ouro/base/assert.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <gtest/gtest.h>

namespace {

const char* wanted = "";

bool asked_for(const char* what) {
    return std::strcmp(wanted, what) == 0;
}

int overflow_stack(int depth) {
    volatile char room[4096];
    for (volatile char& byte : room)
        byte = static_cast<char>(depth);
    return depth == 0 ? room[0] : overflow_stack(depth - 1) + room[0];
}

struct SaysGoodbye {
    ~SaysGoodbye() { std::puts("goodbye"); }
};
SaysGoodbye goodbye;

// All are alive until the last was asked for, so that none can have the worker of one before.
void ask_for_threads() {
    static std::byte blocks[3][64 * 1024];
    ouro_wasm_thread threads[3] = {};
    std::uint32_t go = 0;
    for (int i = 0; i < 3; ++i) {
        ouro_wasm_thread_start(
            &threads[i], [](void* word) { ouro_wasm_wait32(static_cast<std::uint32_t*>(word), 0, -1); }, &go,
            blocks[i], sizeof(blocks[i]), nullptr);
        const bool accepted = ouro_wasm_thread_await_answer(&threads[i]) == ouro_wasm_ok;
        std::printf("%d %s\n", i, accepted ? "accepted" : "refused");
    }
    std::atomic_ref(go).store(1);
    ouro_wasm_notify(&go, 3);
    for (ouro_wasm_thread& thread : threads)
        ouro_wasm_thread_join(&thread);
}

TEST(Misbehave, FailsAnExpectation) {
    SCOPED_TRACE("while failing on purpose");
    EXPECT_EQ(1 + 1, 3) << "streamed " << 42;
    std::puts("still running");
    ASSERT_TRUE(false);
    std::puts("never reached");
}

TEST(Misbehave, FailsInAWorker) {
    Workers::run(2, [](int index) { EXPECT_EQ(index, 0); });
}

TEST(Misbehave, Skips) {
    GTEST_SKIP() << "for a reason";
}

TEST(Misbehave, DISABLED_Sleeps) {
    std::puts("was run nevertheless");
}

void misbehave() {
    if (asked_for("trap-in-worker"))
        Workers::run(2, [](int index) {
            if (index == 1) __builtin_trap();
        });
    if (asked_for("abort-in-worker")) Workers::run(1, [](int) { std::abort(); });
    if (asked_for("trap-in-main")) __builtin_trap();
    if (asked_for("overflow-main")) std::printf("%d\n", overflow_stack(1 << 20));
    if (asked_for("overflow-worker")) Workers::run(1, [](int) { std::printf("%d\n", overflow_stack(20)); });
    if (asked_for("exit-in-worker")) Workers::run(1, [](int) { std::exit(7); });
    if (asked_for("assert-in-worker"))
        Workers::run(1, [](int index) { OURO_ASSERT(index == 12345, "on purpose"); });
    if (asked_for("ask-for-threads")) ask_for_threads();
    if (asked_for("free-twice")) {
        void* volatile block = std::malloc(10);  // the compiler must not pair the calls
        std::free(block);
        std::free(block);
    }
    if (asked_for("deadlock")) {
        std::uint32_t never = 0;
        Workers::run(2, [&](int) { ouro_wasm_wait32(&never, 0, -1); });
    }
}

}  // namespace

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    if (argc < 2) return RUN_ALL_TESTS();
    wanted = argv[1];
    for (int i = 1; asked_for("arguments") && i < argc; ++i)
        std::printf("[%s]\n", argv[i]);
    if (asked_for("code")) return static_cast<int>(std::strlen(argv[2]));
    misbehave();
    return 0;
}
