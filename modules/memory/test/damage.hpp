#pragma once

#include <ouro/base/status.hpp>

#include <atomic>

#include <gtest/gtest.h>

// For tests that damage what an allocator knows, where no block of it leads there: reaches its own members,
// and puts a wrong value somewhere for the time of one look.
namespace ouro::testing_support {

// Names of members may be private where a template is instantiated explicitly: so a function that anybody can
// call returns the pointer to one.
template <class Name, auto kMember>
struct MemberOpener {
    friend constexpr auto member_of(Name /*unused*/) noexcept { return kMember; }
};

// In namespace ouro::testing_support; the name must be one of its own in all tests of a program.
#define OURO_OPEN_MEMBER(Name, member)                       \
    struct Name {                                            \
        friend constexpr auto member_of(Name name) noexcept; \
    };                                                       \
    template struct MemberOpener<Name, member>

template <class Name, class Object>
[[nodiscard]] auto& open(Object& object) {
    return object.*member_of(Name{});
}

template <class Place>
[[nodiscard]] auto read(const Place& place) {
    return place;
}
template <class Value>
[[nodiscard]] Value read(const std::atomic<Value>& place) {
    return place.load(std::memory_order_relaxed);
}

template <class Checked, class Place, class Value>
void expect_found(const Checked& checked, Place& place, Value wrong, int line, const char* what) {
    ASSERT_EQ(checked.check(), Status::ok) << "before line " << line << ": " << what;
    const auto right = read(place);
    place = static_cast<decltype(read(place))>(wrong);
    EXPECT_EQ(checked.check(), Status::corrupt_data) << "line " << line << ": " << what;
    place = right;
    EXPECT_EQ(checked.check(), Status::ok) << "after line " << line << ": " << what;
}

// check() finds the wrong value, and is content again without it.
#define OURO_EXPECT_FOUND(checked, place, wrong) \
    ::ouro::testing_support::expect_found(checked, place, wrong, __LINE__, #place " = " #wrong)

}  // namespace ouro::testing_support
