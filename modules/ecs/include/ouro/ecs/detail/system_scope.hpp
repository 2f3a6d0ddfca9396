#pragma once

#include <ouro/base/assert.hpp>
#include <ouro/base/status.hpp>
#include <ouro/base/type_name.hpp>
#include <ouro/ecs/component.hpp>
#include <ouro/ecs/detail/system_access.hpp>
#include <ouro/ecs/entity.hpp>

#include <string_view>

// What a system does without having declared it is noticed in checked builds, where the threads that run it
// know which one it is.
namespace ouro::detail {

struct RunningSystem {
    std::string_view name;
    const SystemAccess* access = nullptr;
};

[[gnu::tls_model("initial-exec")]] inline constinit thread_local const RunningSystem* t_running_system =
    nullptr;

// The system that this thread works for; null outside of all.
[[nodiscard]] inline const RunningSystem* running_system() noexcept {
    return t_running_system;
}

class SystemScope {
public:
    explicit SystemScope(const RunningSystem* system) noexcept : outer_(t_running_system) {
        t_running_system = system;
    }
    ~SystemScope() { t_running_system = outer_; }
    SystemScope(const SystemScope&) = delete;
    SystemScope& operator=(const SystemScope&) = delete;

private:
    const RunningSystem* outer_;
};

// In checked builds: how many loops that are shared out this thread is inside of.
#if OURO_ASSERT_LEVEL >= 1
[[gnu::tls_model("initial-exec")]] inline constinit thread_local unsigned t_loop_depth = 0;
#endif

[[nodiscard]] inline unsigned loop_depth() noexcept {
#if OURO_ASSERT_LEVEL >= 1
    return t_loop_depth;
#else
    return 0;
#endif
}

// A part of a loop that is shared out.
class LoopScope {
public:
    explicit LoopScope([[maybe_unused]] unsigned depth) noexcept : outer_(loop_depth()) { set(depth); }
    ~LoopScope() { set(outer_); }
    LoopScope(const LoopScope&) = delete;
    LoopScope& operator=(const LoopScope&) = delete;

private:
    static void set([[maybe_unused]] unsigned depth) noexcept {
#if OURO_ASSERT_LEVEL >= 1
        t_loop_depth = depth;
#endif
    }

    [[maybe_unused]] unsigned outer_;
};

class WorldCore;

// What a system does to a component, of an entity or of none.
struct ComponentUse {
    std::uint32_t type = 0;
    std::string_view name;
    bool writes = false;
};

// Each of them asserts unless the system may do it; the message names system, component and entity.
void require_access(const WorldCore& core, Entity entity, const ComponentUse& use);
void require_resource(const ComponentUse& use);
using NameOfType = std::string_view (*)(std::uint32_t type);
void require_query(const Access& access, NameOfType name_of);
void require_structure(Entity entity);
void require_registration(std::string_view name);
[[noreturn]] void visited_meanwhile(Entity entity);
// In every build: a query hands out what the world cannot have, and there is no answer that would be right.
[[noreturn]] void component_missing(std::string_view name, Status status, const TypeClash& clash);
[[noreturn]] void marked_in_a_loop();
[[noreturn]] void named_after_barrier();
[[noreturn]] void recorded_in_a_loop();

// These do nothing where checks are off.
template <class T>
void expect_access([[maybe_unused]] const WorldCore& core, [[maybe_unused]] Entity entity,
                   [[maybe_unused]] bool writes) {
#if OURO_ASSERT_LEVEL >= 1
    if (running_system() != nullptr) require_access(core, entity, {type_number<T>(), type_name<T>(), writes});
#endif
}
template <class T>
void expect_resource([[maybe_unused]] bool writes) {
#if OURO_ASSERT_LEVEL >= 1
    if (running_system() != nullptr) require_resource({type_number<T>(), type_name<T>(), writes});
#endif
}
// Before a component is made known: memory of the image is taken.
inline void expect_registration([[maybe_unused]] std::string_view name) {
#if OURO_ASSERT_LEVEL >= 1
    if (running_system() != nullptr) require_registration(name);
#endif
}
// Before a column is brought to this tick or gets room for marks: parts of a loop would do it at once.
inline void expect_no_loop() {
#if OURO_ASSERT_LEVEL >= 1
    if (t_loop_depth != 0) marked_in_a_loop();
#endif
}
// Of the recorder of so many loops, one in the other: not that of an outer one.
inline void expect_own_recorder([[maybe_unused]] unsigned depth) {
#if OURO_ASSERT_LEVEL >= 1
    if (t_loop_depth > depth) recorded_in_a_loop();
#endif
}
template <class MakeAccess>
void expect_query([[maybe_unused]] MakeAccess&& make_access, [[maybe_unused]] NameOfType name_of) {
#if OURO_ASSERT_LEVEL >= 1
    if (running_system() != nullptr) require_query(make_access(), name_of);
#endif
}
inline void expect_structure([[maybe_unused]] Entity entity) {
#if OURO_ASSERT_LEVEL >= 1
    if (running_system() != nullptr) require_structure(entity);
#endif
}

}  // namespace ouro::detail
