#pragma once

#include <atomic>
#include <cstdint>
#include <type_traits>

namespace ouro::detail {

// Small numbers for types, in the order in which a process asks for them: indices into tables outside the
// image. They never get into it.
template <class Family>
class TypeNumbers {
public:
    template <class T>
    [[nodiscard]] static std::uint32_t of() noexcept {
        static const std::uint32_t kNumber = next_.fetch_add(1, std::memory_order_relaxed);
        return kNumber;
    }

private:
    inline static std::atomic<std::uint32_t> next_ = 0;
};

struct ComponentFamily {};
struct SpawnFamily {};
struct QueryFamily {};

template <class T>
[[nodiscard]] std::uint32_t type_number() noexcept {
    return TypeNumbers<ComponentFamily>::of<T>();
}

template <class... Ts>
inline constexpr bool kAreDifferent = true;
template <class T, class... Ts>
inline constexpr bool kAreDifferent<T, Ts...> = (!std::is_same_v<T, Ts> && ...) && kAreDifferent<Ts...>;

// A list of types as a type.
template <class... Ts>
struct Types {};

}  // namespace ouro::detail
