#pragma once

#include <ouro/base/fixed_string.hpp>
#include <ouro/ecs/system.hpp>
#include <ouro/memory/allocator.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

namespace ouro::detail {

// A function that takes a system's parameters, without its type. Returns whether it said yes; one that
// returns nothing does.
struct SystemFunction {
    void* object = nullptr;
    bool (*call)(void* object, const SystemContext& context) noexcept = nullptr;
    Status (*prepare)(World& world) noexcept = nullptr;
    void (*declare)(SystemAccess& access) noexcept = nullptr;
    void (*destroy)(void* object, Allocator allocator) noexcept = nullptr;
};

template <class Fn>
[[nodiscard]] Expected<SystemFunction> make_system_function(Allocator allocator, Fn fn) noexcept {
    const auto object = allocator.make<Fn>(std::move(fn));
    if (!object) return object.status();
    SystemFunction made;
    made.object = *object;
    made.prepare = &SystemSignature<Fn>::prepare;
    made.declare = &SystemSignature<Fn>::declare;
    made.call = [](void* held, const SystemContext& context) noexcept {
        using Result = decltype(SystemSignature<Fn>::call(*static_cast<Fn*>(held), context));
        if constexpr (std::is_same_v<Result, bool>) {
            return SystemSignature<Fn>::call(*static_cast<Fn*>(held), context);
        } else {
            static_assert(std::is_void_v<Result>, "a system returns nothing");
            SystemSignature<Fn>::call(*static_cast<Fn*>(held), context);
            return true;
        }
    };
    made.destroy = [](void* held, Allocator owner) noexcept { owner.destroy(static_cast<Fn*>(held)); };
    return made;
}

// What a schedule knows of a system.
struct SystemRecord {
    FixedString<47> name;
    // Tells functions apart; null where there is none.
    const void* identity = nullptr;
    SystemFunction function;
    SystemFunction condition;
    SystemAccess access;
    std::uint32_t stage = 0;
    // Its place among all systems: what its commands are merged by.
    std::uint32_t place = 0;
    // How many wait one for another up to it.
    std::uint32_t depth = 0;
    bool is_due = true;
    std::uint32_t runs = 0;
    std::uint64_t last_ns = 0;
    std::uint64_t total_ns = 0;
    std::uint64_t longest_ns = 0;
};

template <auto kFn>
consteval std::string_view spell_function() {
    return __PRETTY_FUNCTION__;
}

// The name of a function as its declaration has it, without namespaces.
template <auto kFn>
consteval std::string_view function_name() {
    std::string_view text = spell_function<kFn>();
    text.remove_prefix(text.find("kFn = ") + 6);
    text = text.substr(0, text.find_first_of(";]"));
    if (const std::size_t scope = text.rfind("::"); scope != std::string_view::npos)
        text.remove_prefix(scope + 2);
    while (!text.empty() && !is_name_character(text.front()))
        text.remove_prefix(1);
    std::size_t length = 0;
    while (length < text.size() && is_name_character(text[length]))
        ++length;
    return text.substr(0, length);
}

}  // namespace ouro::detail
