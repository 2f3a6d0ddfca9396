#include <ouro/os/code_place.hpp>

#include <cstring>
#include <string_view>

#include <dlfcn.h>
#include <gtest/gtest.h>

namespace {

using ouro::Status;
namespace os = ouro::os;

TEST(CodePlace, OfThisProgramIsItsFile) {
    const auto place = os::find_code(reinterpret_cast<const void*>(&os::find_code));
    ASSERT_TRUE(place);
    EXPECT_NE(std::string_view(place->module).find("os_test"), std::string_view::npos) << place->module;
    EXPECT_LT(place->module_start, reinterpret_cast<const void*>(&os::find_code));
}

TEST(CodePlace, OfALibraryIsItsFunctionToo) {
    void* const function = ::dlsym(RTLD_DEFAULT, "getppid");
    ASSERT_NE(function, nullptr);
    const auto place = os::find_code(static_cast<const char*>(function) + 1);
    ASSERT_TRUE(place);
    EXPECT_NE(std::string_view(place->module).find("libc"), std::string_view::npos) << place->module;
    ASSERT_NE(place->function, nullptr);
    EXPECT_NE(std::strstr(place->function, "getppid"), nullptr) << place->function;
    EXPECT_EQ(place->function_start, function);
}

TEST(CodePlace, WhereNoCodeIsThereIsNone) {
    const int local = 0;
    EXPECT_EQ(os::find_code(&local).status(), Status::not_found);
    EXPECT_EQ(os::find_code(nullptr).status(), Status::not_found);
}

}  // namespace
