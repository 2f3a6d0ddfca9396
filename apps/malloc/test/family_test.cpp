// The functions of the malloc family in a program that is linked with the library. GoogleTest runs on it too.
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

extern "C" {
void free_sized(void* block, std::size_t size);
void free_aligned_sized(void* block, std::size_t alignment, std::size_t size);
void* __libc_malloc(std::size_t size);
void __libc_free(void* block);
}

namespace {

// What no compiler can know, so that it neither warns about such a size nor leaves the call out.
std::size_t hidden(std::size_t value) {
    volatile std::size_t kept = value;
    return kept;
}

void* hidden_block(void* block) {
    void* volatile kept = block;
    return kept;
}

constexpr std::size_t kTooMuch = std::size_t{PTRDIFF_MAX} + 1;

bool is_aligned(const void* block, std::size_t alignment) {
    return reinterpret_cast<std::uintptr_t>(block) % alignment == 0;
}

bool all_bytes_are(const void* block, std::size_t size, unsigned char value) {
    const auto* const bytes = static_cast<const unsigned char*>(block);
    for (std::size_t index = 0; index < size; ++index)
        if (bytes[index] != value) return false;
    return true;
}

// Small ones, those of more than one class table, units, and blocks with a mapping of their own.
const std::vector<std::size_t> kSizes = {
    0,     1,     8,     16,      17,        255,     1024,     1025,           4096,
    32768, 32769, 65536, 100'000, 1'000'000, 5 << 20, 32 << 20, (32 << 20) + 1, 70 << 20};

TEST(MallocFamily, IsTheOneThatServesTheProgram) {
    for (const char* const name :
         {"malloc", "free", "calloc", "realloc", "_Znwm", "_ZdlPvm", "malloc_trim"}) {
        Dl_info info{};
        void* const symbol = dlsym(RTLD_DEFAULT, name);
        ASSERT_NE(symbol, nullptr) << name;
        ASSERT_NE(dladdr(symbol, &info), 0) << name;
        EXPECT_NE(std::strstr(info.dli_fname, "libouroboros-malloc"), nullptr) << name;
    }
}

TEST(MallocFamily, EverySizeCanBeUsedWhole) {
    for (const std::size_t size : kSizes) {
        SCOPED_TRACE(size);
        errno = 7;
        void* const block = malloc(hidden(size));
        ASSERT_NE(block, nullptr);
        EXPECT_EQ(errno, 7);
        EXPECT_TRUE(is_aligned(block, 16));
        const std::size_t usable = malloc_usable_size(block);
        EXPECT_GE(usable, size);
        std::memset(block, 0x5a, usable);
        EXPECT_TRUE(all_bytes_are(block, usable, 0x5a));
        errno = 7;
        free(block);
        EXPECT_EQ(errno, 7);
    }
    free(nullptr);
    EXPECT_EQ(malloc_usable_size(nullptr), 0U);
}

TEST(MallocFamily, ZeroBytesGiveBlocksOfTheirOwn) {
    void* const one = malloc(hidden(0));
    void* const other = malloc(hidden(0));
    EXPECT_NE(one, nullptr);
    EXPECT_NE(one, other);
    free(one);
    free(other);
}

TEST(MallocFamily, WhatNoProcessHasIsRefusedWithTheReason) {
    void* const kept = malloc(100);
    std::memset(kept, 1, 100);
    for (const std::size_t size : {kTooMuch, SIZE_MAX, SIZE_MAX - 15, std::size_t{1} << 62}) {
        SCOPED_TRACE(size);
        const auto refused = [](void* block) { return block == nullptr && errno == ENOMEM; };
        errno = 0;
        EXPECT_TRUE(refused(malloc(hidden(size))));
        errno = 0;
        EXPECT_TRUE(refused(calloc(1, hidden(size))));
        errno = 0;
        EXPECT_TRUE(refused(realloc(hidden_block(kept), hidden(size))));
        errno = 0;
        EXPECT_TRUE(refused(aligned_alloc(64, hidden(size))));
        errno = 0;
        EXPECT_TRUE(refused(valloc(hidden(size))));
        errno = 0;
        EXPECT_TRUE(refused(pvalloc(hidden(size))));
        void* result = &result;
        errno = 7;
        EXPECT_EQ(posix_memalign(&result, 64, hidden(size)), ENOMEM);
        EXPECT_EQ(errno, 7);
        EXPECT_EQ(result, &result);
        EXPECT_EQ(operator new(hidden(size), std::nothrow), nullptr);
        EXPECT_EQ(operator new(hidden(size), std::align_val_t{64}, std::nothrow), nullptr);
        EXPECT_THROW(static_cast<void>(operator new(hidden(size))), std::bad_alloc);
        EXPECT_THROW(static_cast<void>(operator new[](hidden(size), std::align_val_t{64})), std::bad_alloc);
    }
    EXPECT_TRUE(all_bytes_are(kept, 100, 1));
    free(kept);
}

TEST(MallocFamily, ProductsThatOverflowAreRefused) {
    const std::size_t half = hidden(SIZE_MAX / 2 + 2);
    errno = 0;
    EXPECT_EQ(calloc(half, 2), nullptr);
    EXPECT_EQ(errno, ENOMEM);
    void* const kept = malloc(50);
    errno = 0;
    EXPECT_EQ(reallocarray(hidden_block(kept), half, 2), nullptr);
    EXPECT_EQ(errno, ENOMEM);
    void* const larger = reallocarray(kept, 100, 7);
    ASSERT_NE(larger, nullptr);
    EXPECT_GE(malloc_usable_size(larger), 700U);
    free(larger);
}

TEST(MallocFamily, CallocClearsWhatWasUsedBefore) {
    for (const std::size_t size : kSizes) {
        SCOPED_TRACE(size);
        std::vector<void*> dirty;
        for (int count = 0; count < 3; ++count) {
            dirty.push_back(malloc(hidden(size)));
            std::memset(dirty.back(), 0xff, size);
        }
        for (void* const block : dirty)
            free(block);
        void* const block = calloc(hidden(size), 1);
        ASSERT_NE(block, nullptr);
        EXPECT_TRUE(all_bytes_are(block, size, 0));
        free(block);
    }
}

TEST(MallocFamily, ReallocKeepsTheBytesBetweenAllKindsOfBlocks) {
    for (const std::size_t from : kSizes) {
        for (const std::size_t to : kSizes) {
            SCOPED_TRACE(std::to_string(from) + " to " + std::to_string(to));
            void* const block = malloc(hidden(from));
            std::memset(block, 0x3c, from);
            void* const resized = realloc(block, hidden(to));
            if (to == 0) {
                EXPECT_EQ(resized, nullptr);
                continue;
            }
            ASSERT_NE(resized, nullptr);
            EXPECT_TRUE(all_bytes_are(resized, from < to ? from : to, 0x3c));
            EXPECT_GE(malloc_usable_size(resized), to);
            free(resized);
        }
    }
    void* const made = realloc(nullptr, 30);
    EXPECT_NE(made, nullptr);
    free(made);
}

// Also while the thread keeps the block's units for its next one.
TEST(MallocFamilyDeathTest, ALargeBlockThatIsFreeCannotBeResized) {
    void* const block = malloc(hidden(200'000));
    ASSERT_NE(block, nullptr);
    void* const freed = hidden_block(block);
    free(block);
    EXPECT_DEATH((void)hidden_block(realloc(freed, hidden(200'000))), "freed twice");
    EXPECT_DEATH((void)hidden_block(realloc(freed, hidden(400'000))), "freed twice");
}

TEST(MallocFamily, SizedFreesAlsoFitWhatReallocLeftInPlace) {
    constexpr std::size_t kBlocks = 5000;
    std::vector<void*> blocks;
    for (std::size_t index = 0; index < kBlocks; ++index)
        blocks.push_back(realloc(malloc(128), 80));
    for (void* const block : blocks)
        free_sized(block, 80);
    // Blocks of the wrong class would overlap here.
    blocks.clear();
    for (std::size_t index = 0; index < kBlocks; ++index) {
        blocks.push_back(malloc(80));
        std::memset(blocks.back(), static_cast<int>(index % 251), 80);
    }
    for (std::size_t index = 0; index < kBlocks; ++index) {
        EXPECT_TRUE(all_bytes_are(blocks[index], 80, static_cast<unsigned char>(index % 251)));
        free_sized(blocks[index], 80);
    }
    free_sized(nullptr, 80);
    free_aligned_sized(aligned_alloc(256, 512), 256, 512);
    free_aligned_sized(nullptr, 256, 512);
}

TEST(MallocFamily, AlignmentsFromOneToManyPages) {
    for (std::size_t alignment = 1; alignment <= (std::size_t{64} << 20); alignment *= 2) {
        SCOPED_TRACE(alignment);
        for (const std::size_t size : {std::size_t{1}, std::size_t{100}, alignment + 1}) {
            void* const one = aligned_alloc(alignment, size);
            ASSERT_NE(one, nullptr);
            EXPECT_TRUE(is_aligned(one, alignment));
            std::memset(one, 1, size);
            void* const other = memalign(alignment, size);
            EXPECT_TRUE(is_aligned(other, alignment));
            void* third = nullptr;
            EXPECT_EQ(posix_memalign(&third, alignment, size), alignment < sizeof(void*) ? EINVAL : 0);
            EXPECT_TRUE(is_aligned(third, alignment));
            EXPECT_TRUE(all_bytes_are(one, size, 1));
            free(one);
            free(other);
            free(third);
        }
    }
}

TEST(MallocFamily, AlignmentsThatAreNoneAreRefused) {
    for (const std::size_t alignment : {std::size_t{0}, std::size_t{3}, std::size_t{24}, SIZE_MAX}) {
        SCOPED_TRACE(alignment);
        errno = 0;
        EXPECT_EQ(aligned_alloc(hidden(alignment), 100), nullptr);
        EXPECT_EQ(errno, EINVAL);
        void* result = &result;
        EXPECT_EQ(posix_memalign(&result, hidden(alignment), 100), EINVAL);
        EXPECT_EQ(result, &result);
    }
    // The oldest of them takes the next power of two.
    void* const block = memalign(hidden(24), 100);
    EXPECT_TRUE(block != nullptr && is_aligned(block, 32));
    free(block);
    errno = 0;
    EXPECT_EQ(memalign(hidden(SIZE_MAX), 100), nullptr);
    EXPECT_EQ(errno, EINVAL);
}

TEST(MallocFamily, WholePages) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    void* const block = valloc(10);
    EXPECT_TRUE(is_aligned(block, page));
    free(block);
    void* const rounded = pvalloc(page + 1);
    EXPECT_TRUE(is_aligned(rounded, page));
    EXPECT_GE(malloc_usable_size(rounded), 2 * page);
    free(rounded);
}

TEST(MallocFamily, TheOtherNamesServeTheSameHeap) {
    free(__libc_malloc(40));
    __libc_free(malloc(40));
}

TEST(MallocFamily, LargeBlocksGrowWithoutLosingBytes) {
    std::size_t size = std::size_t{40} << 20;
    auto* block = static_cast<unsigned char*>(malloc(size));
    for (std::size_t at = 0; at < size; at += 4096)
        block[at] = static_cast<unsigned char>(at >> 12);
    for (int times = 0; times < 4; ++times) {
        block = static_cast<unsigned char*>(realloc(block, size += std::size_t{30} << 20));
        ASSERT_NE(block, nullptr);
    }
    for (std::size_t at = 0; at < (std::size_t{40} << 20); at += 4096)
        ASSERT_EQ(block[at], static_cast<unsigned char>(at >> 12)) << at;
    block = static_cast<unsigned char*>(realloc(block, std::size_t{2} << 20));
    ASSERT_NE(block, nullptr);
    for (std::size_t at = 0; at < (std::size_t{2} << 20); at += 4096)
        ASSERT_EQ(block[at], static_cast<unsigned char>(at >> 12)) << at;
    free(block);
}

int g_handler_calls = 0;
void give_up_after_three() {
    if (++g_handler_calls == 3) std::set_new_handler(nullptr);
}
void throw_at_once() {
    ++g_handler_calls;
    throw std::bad_alloc();
}

TEST(NewAndDelete, TheHandlerIsAskedUntilThereIsNone) {
    g_handler_calls = 0;
    std::set_new_handler(give_up_after_three);
    EXPECT_THROW(static_cast<void>(operator new(hidden(kTooMuch))), std::bad_alloc);
    EXPECT_EQ(g_handler_calls, 3);
    g_handler_calls = 0;
    std::set_new_handler(give_up_after_three);
    EXPECT_EQ(operator new(hidden(kTooMuch), std::nothrow), nullptr);
    EXPECT_EQ(g_handler_calls, 3);
}

TEST(NewAndDelete, AHandlerMayThrow) {
    g_handler_calls = 0;
    std::set_new_handler(throw_at_once);
    EXPECT_EQ(operator new(hidden(kTooMuch), std::nothrow), nullptr);
    EXPECT_EQ(operator new[](hidden(kTooMuch), std::align_val_t{64}, std::nothrow), nullptr);
    EXPECT_THROW(static_cast<void>(operator new(hidden(kTooMuch))), std::bad_alloc);
    EXPECT_EQ(g_handler_calls, 3);
    std::set_new_handler(nullptr);
}

TEST(NewAndDelete, EveryPairFits) {
    constexpr auto kLine = std::align_val_t{64};
    for (const std::size_t size :
         {std::size_t{1}, std::size_t{100}, std::size_t{5000}, std::size_t{3} << 20}) {
        operator delete(operator new(size));
        operator delete(operator new(size), size);
        operator delete[](operator new[](size));
        operator delete[](operator new[](size), size);
        operator delete(operator new(size, std::nothrow), std::nothrow);
        operator delete[](operator new[](size, std::nothrow), std::nothrow);
        void* const aligned = operator new(size, kLine);
        EXPECT_TRUE(is_aligned(aligned, 64));
        operator delete(aligned, kLine);
        operator delete(operator new(size, kLine), size, kLine);
        operator delete[](operator new[](size, kLine), kLine);
        operator delete[](operator new[](size, kLine), size, kLine);
        operator delete(operator new(size, kLine, std::nothrow), kLine, std::nothrow);
        operator delete[](operator new[](size, kLine, std::nothrow), kLine, std::nothrow);
    }
    operator delete(nullptr);
    operator delete(nullptr, std::size_t{10});
    operator delete(nullptr, kLine);
}

TEST(CLibrary, ReportsSpeakOfThisHeap) {
    const struct mallinfo2 before = mallinfo2();
    void* const units = malloc(std::size_t{1} << 20);
    void* const mapped = malloc(std::size_t{40} << 20);
    const struct mallinfo2 after = mallinfo2();
    EXPECT_EQ(after.uordblks - before.uordblks, std::size_t{1} << 20);
    EXPECT_EQ(after.hblks - before.hblks, 1U);
    EXPECT_GE(after.hblkhd - before.hblkhd, std::size_t{40} << 20);
    EXPECT_EQ(mallopt(M_MMAP_THRESHOLD, 1 << 20), 1);
    free(mapped);
    free(units);
    EXPECT_EQ(mallinfo2().hblks, before.hblks);

    char* text = nullptr;
    std::size_t length = 0;
    FILE* const stream = open_memstream(&text, &length);
    EXPECT_EQ(malloc_info(0, stream), 0);
    EXPECT_EQ(malloc_info(1, stream), EINVAL);
    std::fclose(stream);
    EXPECT_EQ(std::string(text).find("<malloc version="), 0U);
    free(text);
}

TEST(CLibrary, TrimReturnsWhatIsFree) {
    std::vector<void*> blocks;
    for (int count = 0; count < 2000; ++count) {
        blocks.push_back(malloc(4000));
        std::memset(blocks.back(), 1, 4000);
    }
    for (void* const block : blocks)
        free(block);
    errno = 7;
    EXPECT_EQ(malloc_trim(0), 1);
    EXPECT_EQ(errno, 7);
    EXPECT_EQ(mallinfo2().keepcost, 0U);
}

}  // namespace
