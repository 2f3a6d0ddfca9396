#pragma once

#include <ouro/base/assert.hpp>

#include <atomic>
#include <cstdint>
#include <type_traits>

namespace ouro::detail {

// Small numbers for types, in the order in which a process asks for them: indices into tables outside the
// image. They never get into it.
template <class Family>
class TypeNumbers {
public:
    // From one on.
    template <class T>
    [[nodiscard]] static std::uint32_t of() noexcept {
        const std::uint32_t number = known<T>();
        return number != 0 ? number : take<T>();
    }
    // Zero when nobody asked for it yet. One load, and nothing to wait for: most calls find their number.
    template <class T>
    [[nodiscard]] static std::uint32_t known() noexcept {
        return number_of<T>.load(std::memory_order_relaxed);
    }

private:
    template <class T>
    inline static constinit std::atomic<std::uint32_t> number_of = 0;
    inline static constinit std::atomic<std::uint32_t> next_ = 1;

    template <class T>
    [[gnu::noinline]] static std::uint32_t take() noexcept {
        const std::uint32_t own = next_.fetch_add(1, std::memory_order_relaxed);
        OURO_ASSERT(own < Family::kLimit, Family::kTooMany);
        std::uint32_t known = 0;
        // Another thread's, where that was faster: then one number is nobody's.
        return number_of<T>.compare_exchange_strong(known, own, std::memory_order_relaxed) ? own : known;
    }
};

// What has numbers, and how many: tables outside the image have a place for each, beside one for zero.
struct ComponentFamily {
    static constexpr std::uint32_t kLimit = 1024;
    static constexpr const char* kTooMany = "a program has 1,023 types of components at most";
};
struct SpawnFamily {
    static constexpr std::uint32_t kLimit = 1024;
    static constexpr const char* kTooMany = "a program spawns 1,023 combinations of types at most";
};
struct QueryFamily {
    static constexpr std::uint32_t kLimit = 512;
    static constexpr const char* kTooMany = "a program has 511 different queries at most";
};

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
