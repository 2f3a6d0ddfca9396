// Libraries that come and go at the same addresses: what was learned of one is not believed of the next.
#include "linux/x86/code_object.hpp"
#include "linux/x86/unwind_tables.hpp"
#include "walk_both.hpp"

#include <array>

#include <dlfcn.h>
#include <gtest/gtest.h>

namespace {

namespace os = ouro::os;
using os::testing_support::are_the_same;
using os::testing_support::BothWalks;
using os::testing_support::walk_both;

// Without an identity nothing is remembered of a library.
enum class Identity : unsigned char { build_id, none };
struct Module {
    const char* path;
    std::uint16_t frame_words;
    Identity identity;
};
constexpr std::array<Module, 4> kModules{{{OURO_FRAME_MODULE_24, 3, Identity::build_id},
                                          {OURO_FRAME_MODULE_56, 7, Identity::build_id},
                                          {OURO_FRAME_MODULE_40, 5, Identity::none},
                                          {OURO_FRAME_MODULE_72, 9, Identity::none}}};

using CallThrough = void (*)(void (*)(void*), void*);

struct Looked {
    BothWalks walks;
    os::FrameRule rule;
    bool has_identity = false;
};

[[gnu::noinline]] void look(void* argument) {
    auto& looked = *static_cast<Looked*>(argument);
    looked.walks = walk_both();
    const auto call = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)) - 1;
    os::ObjectsOnTheWay objects;
    const os::CodeObject* const object = objects.find(call);
    ASSERT_NE(object, nullptr);
    looked.has_identity = object->identity != 0;
    looked.rule = os::find_frame_rule(tables_of(*object), call);
}

// Where the function was.
void* look_through(const Module& module) {
    SCOPED_TRACE(module.path);
    void* const library = ::dlopen(module.path, RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(library, nullptr) << ::dlerror();
    if (library == nullptr) return nullptr;
    void* const function = ::dlsym(library, "ouro_test_call_through");
    EXPECT_NE(function, nullptr);
    for (int again = 0; function != nullptr && again < 2; ++again) {
        Looked looked;
        reinterpret_cast<CallThrough>(function)(look, &looked);
        EXPECT_TRUE(are_the_same(looked.walks, 4));
        EXPECT_EQ(looked.has_identity, module.identity == Identity::build_id);
        // The frame's own words, and the return address.
        EXPECT_EQ(looked.rule, (os::FrameRule{.kind = os::FrameKind::called,
                                              .end = os::FrameEnd::from_stack,
                                              .offset = static_cast<std::uint16_t>(module.frame_words + 1)}));
    }
    EXPECT_EQ(::dlclose(library), 0);
    return function;
}

TEST(ReloadedModule, IsNotTakenForTheOneThatWasThere) {
    void* const place = look_through(kModules[0]);
    ASSERT_NE(place, nullptr);
    for (const std::size_t next : {1U, 0U, 2U, 3U, 2U, 1U, 3U, 0U})
        ASSERT_EQ(look_through(kModules[next]), place) << "not at the same address: nothing was tested";
}

}  // namespace
