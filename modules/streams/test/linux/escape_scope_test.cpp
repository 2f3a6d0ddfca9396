#include "text_sink.hpp"

#include <ouro/os/fault_injection.hpp>
#include <ouro/streams/escape_scope.hpp>

#include <array>
#include <cerrno>
#include <new>
#include <string>
#include <thread>

#include <gtest/gtest.h>

namespace ouro {
namespace {

constexpr std::array kProgram = {os::HeapCallWatch::kProgram};
using testing_support::TextSink;

[[gnu::noinline]] void* take_here(std::size_t bytes) {
    void* block = ::operator new(bytes);
    asm volatile("" : : "r"(block) : "memory");
    return block;
}
[[gnu::noinline]] void* take_there(std::size_t bytes) {
    void* block = ::operator new[](bytes);
    asm volatile("" : : "r"(block) : "memory");
    return block;
}

TEST(EscapeScope, CountsAndTellsPlacesApart) {
    auto scope = EscapeScope::begin(kProgram);
    ASSERT_TRUE(scope) << status_name(scope.status());
    ASSERT_GT(scope->import_count(), 0U);
    EXPECT_EQ(scope->calls(), 0U);
    for (int count = 0; count < 3; ++count)
        ::operator delete(take_here(100));
    ::operator delete[](take_there(7));
    ASSERT_EQ(scope->calls(), 4U);
    EXPECT_EQ(scope->bytes(), 307U);
    ASSERT_EQ(scope->sites().size(), 2U);
    EXPECT_EQ(scope->sites()[0].calls, 3U);
    EXPECT_EQ(scope->sites()[0].bytes, 300U);
    EXPECT_STREQ(scope->sites()[0].function, "_Znwm");
    EXPECT_STREQ(scope->sites()[1].function, "_Znam");
    const auto* site = static_cast<const std::byte*>(scope->sites()[0].code_of(0));
    const auto* function = reinterpret_cast<const std::byte*>(&take_here);
    EXPECT_GT(site, function);
    EXPECT_LT(site, function + 200);
    EXPECT_GT(scope->sites()[0].frame_count, 1U);
}

TEST(EscapeScope, TellsOfEachFileAndItsLargestPlaces) {
    TextSink sink;
    {
        auto scope = EscapeScope::begin(kProgram);
        ASSERT_TRUE(scope);
        ::operator delete[](take_there(7));
        ::operator delete(take_here(100));
        scope->write(sink.sink());
    }
    EXPECT_EQ(sink.text().rfind("streams_test: 2 allocations, 107 B, first by _Znam from ", 0), 0U)
        << sink.text();
    // Both places below, the larger one first.
    const std::size_t larger = sink.text().find("\n    1 of 100 B by _Znwm from ");
    const std::size_t smaller = sink.text().find("\n    1 of 7 B by _Znam from ");
    EXPECT_LT(larger, smaller) << sink.text();
    EXPECT_NE(smaller, std::string::npos) << sink.text();
}

TEST(EscapeScope, SeesAllThreads) {
    auto scope = EscapeScope::begin(kProgram);
    ASSERT_TRUE(scope);
    std::thread other([&] {
        for (int count = 0; count < 1000; ++count)
            ::operator delete(take_here(10));
    });
    for (int count = 0; count < 1000; ++count)
        ::operator delete(take_here(10));
    other.join();
    std::uint64_t here = 0;
    for (const EscapeSite& site : scope->sites())
        if (site.bytes == 10 * site.calls) here += site.calls;
    EXPECT_GE(here, 2000U);
    EXPECT_GE(scope->calls(), here);
}

TEST(EscapeScope, OneAtATimeAndBadNames) {
    const std::array<std::string_view, 1> nowhere = {"libouro_nowhere"};
    EXPECT_EQ(EscapeScope::begin(nowhere).status(), Status::not_found);
    EXPECT_EQ(EscapeScope::begin({}).status(), Status::zero_size);
    {
        const auto scope = EscapeScope::begin(kProgram);
        ASSERT_TRUE(scope);
        EXPECT_EQ(EscapeScope::begin(kProgram).status(), Status::busy);
    }
    EXPECT_TRUE(EscapeScope::begin(kProgram));
}

TEST(EscapeScope, AFailureOfTheSystemIsItsStatus) {
    if constexpr (os::kFaultInjection) {
        namespace inject = os::fault_injection;
        for (const os::OsCall call : {os::OsCall::map_memory, os::OsCall::protect_memory}) {
            inject::fail_nth(call, 1, ENOMEM);
            const auto scope = EscapeScope::begin(kProgram);
            EXPECT_EQ(inject::has_fired(), !scope.has_value());
            inject::clear();
        }
        EXPECT_TRUE(EscapeScope::begin(kProgram));
    }
}

}  // namespace
}  // namespace ouro
