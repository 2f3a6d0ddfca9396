// Compiles where our declarations of the sanitizer's functions come before its own.
// clang-format off
#include <ouro/memory/annotations.hpp>
#include <sanitizer/asan_interface.h>
// clang-format on

#include <gtest/gtest.h>

namespace {

TEST(AnnotationHeaders, GoTogetherWhenOursComeBefore) {
    alignas(64) std::byte bytes[64] = {};
    ouro::annotate::forbid({bytes, sizeof(bytes)});
    EXPECT_EQ(__asan_address_is_poisoned(bytes), 1);
    ouro::annotate::permit({bytes, sizeof(bytes)});
    EXPECT_EQ(__asan_address_is_poisoned(bytes), 0);
}

}  // namespace
