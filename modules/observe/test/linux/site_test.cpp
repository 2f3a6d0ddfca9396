// Sites of a program built without frame pointers.
#include "fresh_tags.hpp"
#include "profile_support.hpp"

#include <ouro/memory/small_object_allocator.hpp>
#include <ouro/observe/charged_allocator.hpp>

#include <vector>

#include <gtest/gtest.h>

namespace ouro {
namespace {

struct Callers {
    void* inner = nullptr;
    void* outer = nullptr;
};

[[gnu::noinline]] MemoryBlock take_inside(MemoryResource& memory, Callers& callers) {
    callers.inner = __builtin_return_address(0);
    const MemoryBlock block = *memory.allocate(64, kDefaultAlignment);
    asm volatile("" ::: "memory");
    return block;
}

[[gnu::noinline]] MemoryBlock take_outside(MemoryResource& memory, Callers& callers) {
    callers.outer = __builtin_return_address(0);
    const MemoryBlock block = take_inside(memory, callers);
    asm volatile("" ::: "memory");
    return block;
}

bool has(const SiteProfile& site, const void* address) {
    for (const std::uint64_t frame : site.stack()) {
        if (frame == reinterpret_cast<std::uintptr_t>(address)) return true;
    }
    return false;
}

// The first of them finds no credit and goes another way than the others.
TEST(ProfilerSites, APlaceIsOneSiteWithItsCallers) {
    const Tag tag = test::fresh_tag();
    auto heap = *SmallObjectAllocator::create({});
    ChargedAllocator memory(heap, tag);
    const test::Profiling profiling({.mean_bytes = 1});
    Callers callers;
    std::vector<MemoryBlock> blocks;
    for (int i = 0; i < 1'000; ++i)
        blocks.push_back(take_outside(memory, callers));
    std::size_t sites = 0;
    for (std::size_t number = 0; number < site_count(); ++number) {
        const SiteProfile site = read_site(number);
        if (site.tag != tag) continue;
        ++sites;
        EXPECT_GT(site.samples, 900U);
        EXPECT_TRUE(has(site, callers.inner));
        EXPECT_TRUE(has(site, callers.outer));
    }
    EXPECT_EQ(sites, 1U);
    for (const MemoryBlock block : blocks)
        memory.deallocate(block);
}

}  // namespace
}  // namespace ouro
