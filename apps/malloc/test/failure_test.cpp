// Every call of the operating system that the heap of the process makes fails once. A request is then served
// all the same, or it is null with ENOMEM; errno is as it was otherwise, no block loses a byte, and later
// requests are served. The heap starts once a process: each failure has a child of its own.
#include "process_heap.hpp"

#include <ouro/os/fault_injection.hpp>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

// The heap behind malloc tells AddressSanitizer nothing of what it hands out, and the parts below it forbid
// what is free.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() {
    return "allow_user_poisoning=0";
}

namespace {

namespace heap = ouro::process_heap;
namespace inject = ouro::os::fault_injection;
using ouro::os::OsCall;

// How a child ended.
enum class End : int {
    survived = 0,
    // The call was not used so often: there are no more to fail.
    not_reached = 10,
    wrong_errno = 11,
    lost_bytes = 12,
    not_served_later = 13,
    not_freed = 14,
};

[[noreturn]] void end_with(End end) {
    ::_exit(static_cast<int>(end));
}

// What no call sets errno to.
constexpr int kUntouched = 12345;

// Small, of units, and with mappings of their own.
constexpr std::array<std::size_t, 12> kSizes = {1,
                                                100,
                                                3000,
                                                20'000,
                                                60'000,
                                                200'000,
                                                std::size_t{5} << 20,
                                                std::size_t{33} << 20,
                                                100'000,
                                                40'000,
                                                500'000,
                                                std::size_t{40} << 20};

struct Block {
    unsigned char* data = nullptr;
    std::size_t size = 0;
    unsigned char value = 0;

    // The ends and some in between: most of a mapping is never touched.
    void fill() const {
        for (std::size_t at = 0; at < size; at += 1 + size / 50)
            data[at] = value;
        data[size - 1] = value;
    }
    void expect_filled(std::size_t bytes) const {
        for (std::size_t at = 0; at < bytes; at += 1 + size / 50)
            if (data[at] != value) end_with(End::lost_bytes);
    }
};

// The result of a request, after a look at errno.
template <class Request>
unsigned char* ask(Request request) {
    errno = kUntouched;
    auto* const result = static_cast<unsigned char*>(request());
    if (errno != (result != nullptr ? kUntouched : ENOMEM)) end_with(End::wrong_errno);
    return result;
}

void release(Block& block) {
    if (block.data == nullptr) return;
    block.expect_filled(block.size);
    errno = kUntouched;
    heap::deallocate(block.data);
    if (errno != kUntouched) end_with(End::wrong_errno);
    block = {};
}

Block allocate(std::size_t size, std::size_t alignment, unsigned char value) {
    Block block{nullptr, size, value};
    block.data = ask([&] {
        return alignment == heap::kAlignment ? heap::allocate(size)
                                             : heap::allocate_slow(size, alignment, false);
    });
    if (block.data == nullptr) return {};
    block.fill();
    return block;
}

void resize(Block& block, std::size_t size) {
    if (block.data == nullptr) return;
    const std::size_t kept = size < block.size ? size : block.size;
    unsigned char* const resized = ask([&] { return heap::reallocate(block.data, size); });
    if (resized == nullptr) return block.expect_filled(block.size);
    block.data = resized;
    // The bytes that were written, as they were.
    block.expect_filled(kept);
    block.size = size;
    block.fill();
}

using Blocks = std::array<Block, 2 * kSizes.size()>;

// Allocates, grows, shrinks and frees, and has everything free returned in between.
void work(Blocks& blocks) {
    for (std::size_t index = 0; index < blocks.size(); ++index) {
        const std::size_t alignment = index < kSizes.size() ? heap::kAlignment : std::size_t{8192};
        const auto value = static_cast<unsigned char>(index + 1);
        blocks[index] = allocate(kSizes[index % kSizes.size()], alignment, value);
    }
    for (std::size_t index = 0; index < blocks.size(); ++index) {
        const std::size_t size = kSizes[index % kSizes.size()];
        const bool is_mapped = size > std::size_t{32} << 20;
        if (index % 2 == 0 || is_mapped) resize(blocks[index], 3 * size);
    }
    heap::purge();
    for (std::size_t index = 1; index < blocks.size(); index += 2)
        resize(blocks[index], 1 + kSizes[index % kSizes.size()] / 3);
    for (std::size_t index = 0; index < blocks.size(); index += 3)
        release(blocks[index]);
    heap::purge();
}

[[noreturn]] void fail_and_work(OsCall call, std::uint64_t nth, const char* words) {
    // A child that hangs ends, too.
    ::alarm(100);
    ::setenv("OUROBOROS_MALLOC", words, 1);
    inject::fail_nth(call, nth, ENOMEM);
    Blocks blocks;
    work(blocks);
    const bool has_fired = inject::has_fired();
    inject::clear();
    Blocks later;
    work(later);
    for (std::size_t index = 0; index < later.size(); ++index)
        if (index % 3 != 0 && later[index].data == nullptr) end_with(End::not_served_later);
    for (Blocks* const all : {&blocks, &later})
        for (Block& block : *all)
            release(block);
    const heap::Report report = heap::report();
    if (report.counts.live_blocks != 0 || report.mapped.blocks != 0 || report.mapped.bytes != 0 ||
        report.guarded.blocks != 0 || report.profiled.blocks != 0)
        end_with(End::not_freed);
    end_with(has_fired ? End::survived : End::not_reached);
}

End end_of_child(OsCall call, std::uint64_t nth, const char* words) {
    const pid_t child = ::fork();
    if (child == 0) fail_and_work(call, nth, words);
    int state = 0;
    EXPECT_GT(child, 0);
    EXPECT_EQ(::waitpid(child, &state, 0), child);
    EXPECT_TRUE(WIFEXITED(state)) << "ended by signal " << WTERMSIG(state);
    return WIFEXITED(state) ? static_cast<End>(WEXITSTATUS(state)) : End::not_reached;
}

// Each use of each call, or after the first ones every so many of them.
void sweep(const char* words, std::uint64_t stride, std::initializer_list<OsCall> used) {
    constexpr std::uint64_t kFirst = 12;
    constexpr std::uint64_t kEndless = 1000;
    for (unsigned number = 0; number < ouro::os::kOsCallCount; ++number) {
        const auto call = static_cast<OsCall>(number);
        SCOPED_TRACE(std::string(inject::name_of(call)));
        std::uint64_t nth = 1;
        for (; nth < kEndless; nth += nth < kFirst ? 1 : stride) {
            const End end = end_of_child(call, nth, words);
            if (end == End::not_reached) break;
            ASSERT_EQ(static_cast<int>(end), static_cast<int>(End::survived)) << "use " << nth;
        }
        for (const OsCall expected : used)
            EXPECT_TRUE(expected != call || nth > 1) << "was never used";
    }
}

TEST(MallocFailure, WithTheUsualSettings) {
    sweep("", 1,
          {OsCall::map_memory, OsCall::unmap_memory, OsCall::protect_memory, OsCall::advise_memory,
           OsCall::remap_memory, OsCall::make_thread_key, OsCall::register_fork_hooks});
}

TEST(MallocFailure, WhileMemoryGoesBackAllTheTime) {
    sweep("purge=0,idle=1", 7, {OsCall::map_memory, OsCall::advise_memory});
}

TEST(MallocFailure, WithGuardedBlocks) {
    sweep("guard=2,guard_slots=8", 11,
          {OsCall::map_memory, OsCall::protect_memory, OsCall::set_signal_handler});
}

TEST(MallocFailure, WithAProfile) {
    sweep("profile=never-written,profile_bytes=4K", 11, {OsCall::map_memory, OsCall::protect_memory});
}

}  // namespace
