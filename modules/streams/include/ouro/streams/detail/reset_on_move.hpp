#pragma once

#include <utility>

namespace ouro::detail {

// A member that says whether its owner is still in use: what was moved from has the value of one that was
// never made, so that the owner asserts by it, and moves as the compiler does it.
template <class T>
class ResetOnMove {
public:
    constexpr ResetOnMove() noexcept = default;
    constexpr ResetOnMove(T value) noexcept : value_(std::move(value)) {}
    constexpr ResetOnMove(ResetOnMove&& other) noexcept : value_(std::exchange(other.value_, T())) {}
    constexpr ResetOnMove& operator=(ResetOnMove&& other) noexcept {
        // Its own value, too, stays.
        T value = std::exchange(other.value_, T());
        value_ = std::move(value);
        return *this;
    }
    ~ResetOnMove() = default;

    [[nodiscard]] constexpr const T& get() const noexcept { return value_; }
    [[nodiscard]] constexpr T& get() noexcept { return value_; }

private:
    T value_{};
};

}  // namespace ouro::detail
