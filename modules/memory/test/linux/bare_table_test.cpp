// Produces the second table of docs/hardening.md: which wrong frees the strategies notice by themselves, in a
// build without asserts beyond those that are always there.
#include "page_table.hpp"

#include <ouro/memory/partition_allocator.hpp>
#include <ouro/memory/pool_allocator.hpp>
#include <ouro/memory/small_object_allocator.hpp>
#include <ouro/memory/stack_allocator.hpp>
#include <ouro/memory/system_allocator.hpp>
#include <ouro/memory/tlsf_allocator.hpp>
#include <ouro/os/error_output.hpp>

#include <array>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using ouro::MemoryBlock;
using ouro::testing_support::PageTable;

enum class WrongFree { foreign, twice };
constexpr std::string_view kLater = "@later\n";

// More than any cache holds.
constexpr int kManyBlocks = 3000;

// Frees what it should not, then goes on as a program would.
template <typename Resource>
void misuse(Resource& resource, Resource& other, WrongFree kind, std::size_t size) {
    const MemoryBlock block = resource.allocate(size).value();
    if (kind == WrongFree::twice) {
        const MemoryBlock behind = resource.allocate(size).value();
        resource.deallocate(behind);
        resource.deallocate(block);
        resource.deallocate(block);
    } else {
        const MemoryBlock foreign = other.allocate(size).value();
        resource.deallocate(foreign);
    }
    ouro::os::write_error_text(kLater);
    if (resource.check() != ouro::Status::ok) {
        ouro::os::write_error_text("check(): assertion `sound` failed\n");
        return;
    }
    std::vector<MemoryBlock> blocks;
    for (int i = 0; i < kManyBlocks; ++i) {
        if (const auto more = resource.allocate(size)) blocks.push_back(*more);
    }
    for (const MemoryBlock each : blocks)
        resource.deallocate(each);
}

constexpr std::size_t kSmall = 64;
constexpr std::size_t kLarge = 100'000;
constexpr std::size_t kRegion = std::size_t{64} << 20;

// Side by side, so that what is read beyond the one is always the same.
MemoryBlock region(std::size_t index) {
    static const MemoryBlock memory = [] {
        static auto system = *ouro::SystemAllocator::create({});
        return *system.allocate(2 * kRegion);
    }();
    return memory.sub(index * kRegion, kRegion);
}

void misuse_tlsf(WrongFree kind, std::size_t size) {
    auto one = *ouro::TlsfAllocator::create_in(region(0));
    auto other = *ouro::TlsfAllocator::create_in(region(1));
    misuse(one, other, kind, size);
}

void misuse_small_objects(WrongFree kind, std::size_t size) {
    auto one = *ouro::SmallObjectAllocator::create_in(region(0));
    auto other = *ouro::SmallObjectAllocator::create_in(region(1));
    one.deallocate(*one.allocate(size));
    misuse(one, other, kind, size);
}

void misuse_partitions(WrongFree kind, std::size_t size, ouro::ThreadSafety safety) {
    const ouro::PartitionOptions part{.max_bytes = kRegion, .thread_safety = safety};
    const ouro::PartitionOptions parts[] = {part, part};
    auto set = *ouro::PartitionAllocator::create({.partitions = parts});
    misuse(set[0], set[1], kind, size);
}

void misuse_pools(WrongFree kind, std::size_t size) {
    auto one = *ouro::PoolAllocator::create({.block_bytes = size});
    auto other = *ouro::PoolAllocator::create({.block_bytes = size});
    misuse(one, other, kind, size);
}

void misuse_pools_from_a_thread(WrongFree kind, std::size_t size) {
    auto one = *ouro::PoolAllocator::create({.block_bytes = size});
    auto other = *ouro::PoolAllocator::create({.block_bytes = size});
    const MemoryBlock block = *(kind == WrongFree::twice ? one : other).allocate(size);
    std::thread([&] {
        one.deallocate(block);
        if (kind == WrongFree::twice) one.deallocate(block);
    }).join();
    misuse(one, one, WrongFree::foreign, size);
}

void misuse_stacks(WrongFree kind, std::size_t size) {
    auto one = *ouro::StackAllocator::create({.max_bytes = kRegion});
    auto other = *ouro::StackAllocator::create({.max_bytes = kRegion});
    misuse(one, other, kind, size);
}

void misuse_system(WrongFree kind, std::size_t size) {
    auto one = *ouro::SystemAllocator::create({});
    auto other = *ouro::SystemAllocator::create({});
    misuse(one, other, kind, size);
}

struct Row {
    std::string_view text;
    void (*misuse)(WrongFree);
};

const std::array kRows{
    Row{"`StackAllocator`", [](WrongFree kind) { misuse_stacks(kind, kSmall); }},
    Row{"`PoolAllocator`", [](WrongFree kind) { misuse_pools(kind, kSmall); }},
    Row{"`PoolAllocator`, freed by another thread",
        [](WrongFree kind) { misuse_pools_from_a_thread(kind, kSmall); }},
    Row{"`SmallObjectAllocator`, 64 bytes", [](WrongFree kind) { misuse_small_objects(kind, kSmall); }},
    Row{"`SmallObjectAllocator`, 100,000 bytes", [](WrongFree kind) { misuse_small_objects(kind, kLarge); }},
    Row{"`TlsfAllocator`, 64 bytes", [](WrongFree kind) { misuse_tlsf(kind, kSmall); }},
    Row{"`TlsfAllocator`, 100,000 bytes", [](WrongFree kind) { misuse_tlsf(kind, kLarge); }},
    Row{"`Partition`",
        [](WrongFree kind) { misuse_partitions(kind, kSmall, ouro::ThreadSafety::single_thread); }},
    Row{"`Partition` for any thread",
        [](WrongFree kind) { misuse_partitions(kind, kSmall, ouro::ThreadSafety::any_thread); }},
    Row{"`SystemAllocator`", [](WrongFree kind) { misuse_system(kind, kLarge); }},
};

std::string output_of(const Row& row, WrongFree kind) {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    EXPECT_GE(child, 0);
    if (child == 0) {
        ::dup2(ends[1], STDERR_FILENO);
        const rlimit no_core{0, 0};
        ::setrlimit(RLIMIT_CORE, &no_core);
        row.misuse(kind);
        ::_exit(0);
    }
    ::close(ends[1]);
    std::string output;
    char buffer[4096];
    ssize_t count = 0;
    while ((count = ::read(ends[0], buffer, sizeof(buffer))) > 0)
        output.append(buffer, static_cast<std::size_t>(count));
    ::close(ends[0]);
    EXPECT_EQ(::waitpid(child, nullptr, 0), child);
    return output;
}

std::string when_noticed(const Row& row, WrongFree kind) {
    const std::string output = output_of(row, kind);
    const std::size_t found = output.find(": assertion `");
    if (found == std::string::npos) return "no";
    return output.find(kLater) < found ? "later" : "at the free";
}

TEST(BareTable, ThePageTellsWhatStrategiesNoticeByThemselves) {
    const PageTable page("bare_table_test");
    ASSERT_FALSE(page.before.empty()) << "the page lacks its two markers";
    std::string wanted = "| strategy, alone | free of a foreign pointer | double free |\n|---|---|---|\n";
    for (const Row& row : kRows) {
        wanted += "| " + std::string(row.text) + " | " + when_noticed(row, WrongFree::foreign) + " | " +
                  when_noticed(row, WrongFree::twice) + " |\n";
    }
    page.demand(wanted);
}

}  // namespace
