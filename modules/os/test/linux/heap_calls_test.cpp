#include "sample_library.hpp"

#include <ouro/os/code_place.hpp>
#include <ouro/os/fault_injection.hpp>
#include <ouro/os/heap_calls.hpp>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <sys/mman.h>

namespace {

using ouro::Status;
using ouro::os::HeapCall;
using ouro::os::HeapCallWatch;
using ouro::os::testing_support::SampleLibrary;
namespace os = ouro::os;
namespace inject = ouro::os::fault_injection;

struct Sample {
    const char* path;
    const char* name;
};

struct Seen {
    std::string function;
    std::size_t bytes;
    const void* caller;
};

void note(void* context, const HeapCall& call) {
    // Takes memory itself, which is not told.
    static_cast<std::vector<Seen>*>(context)->push_back({call.function, call.bytes, call.caller});
}

class HeapCalls : public testing::TestWithParam<Sample> {
protected:
    ouro::Expected<HeapCallWatch> watch() {
        const std::array<std::string_view, 1> names = {GetParam().name};
        return HeapCallWatch::create(names, note, &seen_);
    }

    SampleLibrary library_{GetParam().path};
    std::vector<Seen> seen_;
};

TEST_P(HeapCalls, AreToldWithTheirSizesAndGoOn) {
    const auto watched = watch();
    ASSERT_TRUE(watched) << ouro::status_name(watched.status());
    EXPECT_GE(watched->import_count(), 8U);
    void* block = library_.function<void*(std::size_t)>("sample_malloc")(100);
    ASSERT_NE(block, nullptr);
    std::memset(block, 1, 100);
    block = library_.function<void*(void*, std::size_t)>("sample_realloc")(block, 300);
    std::free(block);
    std::free(library_.function<void*(std::size_t, std::size_t)>("sample_calloc")(10, 20));
    std::free(library_.function<void*(std::size_t, std::size_t)>("sample_aligned")(64, 128));
    ::operator delete(library_.function<void*(std::size_t)>("sample_new")(50));
    ::operator delete[](library_.function<void*(std::size_t)>("sample_new_nothrow")(60), std::nothrow);
    char* text = library_.function<char*(const char*)>("sample_strdup")("four");
    EXPECT_STREQ(text, "four");
    std::free(text);
    void* mapped = library_.function<void*(std::size_t)>("sample_mmap")(8192);
    EXPECT_EQ(::munmap(mapped, 8192), 0);

    const std::array<std::pair<const char*, std::size_t>, 8> expected = {{{"malloc", 100},
                                                                          {"realloc", 300},
                                                                          {"calloc", 200},
                                                                          {"aligned_alloc", 128},
                                                                          {"_Znwm", 50},
                                                                          {"_ZnamRKSt9nothrow_t", 60},
                                                                          {"strdup", 5},
                                                                          {"mmap", 8192}}};
    ASSERT_EQ(seen_.size(), expected.size());
    for (std::size_t index = 0; index < expected.size(); ++index) {
        EXPECT_EQ(seen_[index].function, expected[index].first);
        EXPECT_EQ(seen_[index].bytes, expected[index].second);
        const auto place = os::find_code(seen_[index].caller);
        ASSERT_TRUE(place);
        EXPECT_STREQ(place->module, GetParam().path);
    }
}

TEST_P(HeapCalls, OfOthersAreNot) {
    const auto watched = watch();
    ASSERT_TRUE(watched);
    std::free(std::malloc(100));
    EXPECT_TRUE(seen_.empty());
}

TEST_P(HeapCalls, EndWithTheWatch) {
    const auto take = library_.function<void*(std::size_t)>("sample_malloc");
    for (int round = 0; round < 3; ++round) {
        const auto watched = watch();
        ASSERT_TRUE(watched);
        std::free(take(10));
    }
    std::free(take(10));
    EXPECT_EQ(seen_.size(), 3U);
}

TEST_P(HeapCalls, OneWatchAtATime) {
    auto watched = watch();
    ASSERT_TRUE(watched);
    EXPECT_EQ(watch().status(), Status::busy);
    // Moving it ends nothing.
    const HeapCallWatch moved = *std::move(watched);
    std::free(library_.function<void*(std::size_t)>("sample_malloc")(10));
    EXPECT_EQ(seen_.size(), 1U);
    EXPECT_EQ(watch().status(), Status::busy);
}

TEST_P(HeapCalls, AFailureLeavesEverythingAsItWas) {
    if constexpr (os::kFaultInjection) {
        const auto take = library_.function<void*(std::size_t)>("sample_malloc");
        unsigned failures = 0;
        for (std::uint64_t nth = 1; nth < 100; ++nth) {
            inject::fail_nth(os::OsCall::protect_memory, nth, ENOMEM);
            {
                const auto watched = watch();
                failures += watched ? 0U : 1U;
                inject::clear();
                seen_.clear();
                std::free(take(10));
                EXPECT_EQ(seen_.size(), watched ? 1U : 0U);
            }
            std::free(take(10));
        }
        // Where the loader protects nothing, nothing fails.
        EXPECT_EQ(failures != 0, std::string_view(GetParam().name).ends_with("now"));
        EXPECT_TRUE(watch());
    }
}

INSTANTIATE_TEST_SUITE_P(Libraries, HeapCalls,
                         testing::Values(Sample{OURO_SAMPLE_NOW, "libouro_sample_now"},
                                         Sample{OURO_SAMPLE_LAZY, "libouro_sample_lazy"}));

// The compiler may leave out what new and delete do together.
[[gnu::noinline]] void* take_plainly(std::size_t bytes) {
    return ::operator new(bytes);
}

TEST(HeapCallWatchOf, TheProgramItself) {
    std::vector<Seen> seen;
    const std::array names = {HeapCallWatch::kProgram};
    {
        const auto watched = HeapCallWatch::create(names, note, &seen);
        ASSERT_TRUE(watched) << ouro::status_name(watched.status());
        if (watched->import_count() == 0) return;  // linked with a heap of its own
        ::operator delete(take_plainly(4));
    }
    ASSERT_FALSE(seen.empty());
    EXPECT_EQ(seen[0].function, "_Znwm");
    EXPECT_EQ(seen[0].bytes, 4U);
}

TEST(HeapCallWatchOf, ALibraryThatIsClosedMeanwhile) {
    const auto is_loaded = [] {
        void* const found = ::dlopen(OURO_SAMPLE_NOW, RTLD_LAZY | RTLD_NOLOAD);
        return found != nullptr && ::dlclose(found) == 0;
    };
    std::vector<Seen> seen;
    const std::array<std::string_view, 2> names = {"libouro_sample_now", "libouro_sample_now"};
    {
        auto library = std::make_unique<SampleLibrary>(OURO_SAMPLE_NOW);
        const auto watched = HeapCallWatch::create(names, note, &seen);
        ASSERT_TRUE(watched) << ouro::status_name(watched.status());
        const auto take = library->function<void*(std::size_t)>("sample_malloc");
        library.reset();
        // It goes when what is written into it can be put back.
        ASSERT_TRUE(is_loaded());
        std::free(take(10));
        EXPECT_EQ(seen.size(), 1U);
    }
    EXPECT_FALSE(is_loaded());
}

TEST(HeapCallWatchOf, BadNamesAreRefused) {
    std::vector<Seen> seen;
    const std::array<std::string_view, 2> names = {HeapCallWatch::kProgram, "libouro_nowhere"};
    EXPECT_EQ(HeapCallWatch::create(names, note, &seen).status(), Status::not_found);
    EXPECT_EQ(HeapCallWatch::create({}, note, &seen).status(), Status::zero_size);
    // What was redirected before the bad name was found is as it was.
    ::operator delete(take_plainly(4));
    EXPECT_TRUE(seen.empty());
}

}  // namespace
