#pragma once

#include <ouro/base/assert.hpp>
#include <ouro/base/type_name.hpp>
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

// Each of them asserts unless the system may do it; the message names system, component and entity.
void require_access(std::uint32_t type, std::string_view name, bool writes, bool is_resource);
void require_query(const Access& access);
void require_structure(Entity entity);
[[noreturn]] void visited_meanwhile(Entity entity);

// These do nothing where checks are off.
template <class T>
void expect_access([[maybe_unused]] bool writes) {
#if OURO_ASSERT_LEVEL >= 1
    if (running_system() != nullptr) require_access(type_number<T>(), type_name<T>(), writes, false);
#endif
}
template <class T>
void expect_resource([[maybe_unused]] bool writes) {
#if OURO_ASSERT_LEVEL >= 1
    if (running_system() != nullptr) require_access(type_number<T>(), type_name<T>(), writes, true);
#endif
}
template <class MakeAccess>
void expect_query([[maybe_unused]] MakeAccess&& make_access) {
#if OURO_ASSERT_LEVEL >= 1
    if (running_system() != nullptr) require_query(make_access());
#endif
}
inline void expect_structure([[maybe_unused]] Entity entity) {
#if OURO_ASSERT_LEVEL >= 1
    if (running_system() != nullptr) require_structure(entity);
#endif
}

}  // namespace ouro::detail
