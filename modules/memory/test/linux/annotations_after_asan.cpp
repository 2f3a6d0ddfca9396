// Compiles where our declarations of the sanitizer's functions come after its own.
// clang-format off
#include <sanitizer/asan_interface.h>
#include <ouro/memory/annotations.hpp>
// clang-format on

#include <gtest/gtest.h>

namespace {

TEST(AnnotationHeaders, GoTogetherWhenOursComeAfter) {
    alignas(64) std::byte bytes[64] = {};
    ouro::annotate::forbid({bytes, sizeof(bytes)});
    EXPECT_EQ(__asan_address_is_poisoned(bytes), 1);
    ouro::annotate::permit({bytes, sizeof(bytes)});
    EXPECT_EQ(__asan_address_is_poisoned(bytes), 0);
}

}  // namespace
