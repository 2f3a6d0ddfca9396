#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <gtest/registry.h>

namespace testing {

template <typename... Ts>
struct Types {};

namespace internal {

// The compiler's own spelling of a type; there is no RTTI here.
template <typename T>
std::string type_name() {
    const std::string_view text = __PRETTY_FUNCTION__;
    const std::size_t start = text.find("T = ");
    if (start == std::string_view::npos) return "?";
    return std::string(text.substr(start + 4, text.size() - start - 5));
}

template <template <typename> class Body, template <typename> class Fixture, typename List>
struct TypedTests;

template <template <typename> class Body, template <typename> class Fixture, typename... Ts>
struct TypedTests<Body, Fixture, Types<Ts...>> {
    static bool add(const char* suite, const char* name) {
        std::size_t index = 0;
        (add_test<Body<Ts>, Fixture<Ts>>(std::string(suite) + "/" + std::to_string(index++), name,
                                         "TypeParam = " + type_name<Ts>()),
         ...);
        return true;
    }
};

}  // namespace internal
}  // namespace testing
