#pragma once

#include <ouro/base/assert.hpp>
#include <ouro/base/status.hpp>

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

namespace ouro {

template <class T>
class Expected;

namespace detail {
// Asserts, and says why there is none.
[[noreturn, gnu::cold]] void value_of_failure(Status status);
}  // namespace detail

template <class T>
inline constexpr bool kIsExpected = false;
template <class T>
inline constexpr bool kIsExpected<Expected<T>> = true;

// What an Expected<T> can be made of: anything that becomes a T by itself without losing bits. Not another
// Expected, whose failure would become the value false.
template <class U, class T>
concept ExpectedValue = std::convertible_to<U, T> && !std::same_as<std::remove_cvref_t<U>, Status> &&
                        !kIsExpected<std::remove_cvref_t<U>> &&
                        (!std::is_arithmetic_v<T> || requires(U&& value) { T{std::forward<U>(value)}; });

// A value, or the Status that says why there is none. Asking a failed Expected for its value is a programming
// error and asserts in every build; there is no exception and no default value behind it.
//
//     Expected<MemoryBlock> block = os::reserve(size);
//     if (!block) return block.status();
//     use(*block);
template <class T>
class [[nodiscard]] Expected {
    static_assert(!std::is_reference_v<T>, "Expected holds values; use a pointer for a reference");
    static_assert(!std::same_as<std::remove_cv_t<T>, Status>, "a Status is not a value; return it plainly");

public:
    using value_type = T;

    // Requires: status is not ok.
    Expected(Status status) noexcept : status_(status) {
        OURO_ASSERT(status != Status::ok, "a failure needs a reason");
    }

    template <ExpectedValue<T> U = T>
    Expected(U&& value) noexcept : status_(Status::ok) {
        std::construct_at(&value_, std::forward<U>(value));
    }

    Expected(const Expected& other) noexcept
        requires std::is_trivially_copy_constructible_v<T>
    = default;
    Expected(const Expected& other) noexcept
        requires(std::copy_constructible<T> && !std::is_trivially_copy_constructible_v<T>)
        : status_(other.status_) {
        if (has_value()) std::construct_at(&value_, other.value_);
    }

    Expected(Expected&& other) noexcept
        requires std::is_trivially_move_constructible_v<T>
    = default;
    Expected(Expected&& other) noexcept
        requires(!std::is_trivially_move_constructible_v<T>)
        : status_(other.status_) {
        if (has_value()) std::construct_at(&value_, std::move(other.value_));
    }

    Expected& operator=(Expected other) noexcept {
        std::destroy_at(this);
        return *std::construct_at(this, std::move(other));
    }

    ~Expected()
        requires std::is_trivially_destructible_v<T>
    = default;
    ~Expected() {
        if (has_value()) std::destroy_at(&value_);
    }

    [[nodiscard]] bool has_value() const noexcept { return status_ == Status::ok; }
    explicit operator bool() const noexcept { return has_value(); }

    // ok when there is a value.
    [[nodiscard]] Status status() const noexcept { return status_; }

    [[nodiscard]] T& value() & noexcept {
        require_value();
        return value_;
    }
    [[nodiscard]] const T& value() const& noexcept {
        require_value();
        return value_;
    }
    [[nodiscard]] T&& value() && noexcept {
        require_value();
        return std::move(value_);
    }

    [[nodiscard]] T& operator*() & noexcept { return value(); }
    [[nodiscard]] const T& operator*() const& noexcept { return value(); }
    [[nodiscard]] T&& operator*() && noexcept { return std::move(*this).value(); }
    [[nodiscard]] T* operator->() noexcept { return &value(); }
    [[nodiscard]] const T* operator->() const noexcept { return &value(); }

    template <class U>
    [[nodiscard]] T value_or(U&& fallback) const& noexcept {
        return has_value() ? value_ : static_cast<T>(std::forward<U>(fallback));
    }

private:
    void require_value() const noexcept {
        if (!has_value()) [[unlikely]]
            detail::value_of_failure(status_);
    }

    union {
        T value_;
    };
    Status status_;
};

// Success, or the Status of the failure.
template <>
class [[nodiscard]] Expected<void> {
public:
    using value_type = void;

    constexpr Expected() noexcept = default;
    // Any status, ok included, so that a function can end with `return some_status;`.
    constexpr Expected(Status status) noexcept : status_(status) {}

    [[nodiscard]] constexpr bool has_value() const noexcept { return status_ == Status::ok; }
    explicit constexpr operator bool() const noexcept { return has_value(); }
    [[nodiscard]] constexpr Status status() const noexcept { return status_; }
    // As a Status is asked, so that it does not matter which of the two a function returns.
    [[nodiscard]] friend constexpr bool operator==(const Expected& result, Status status) noexcept {
        return result.status_ == status;
    }

private:
    Status status_ = Status::ok;
};

}  // namespace ouro
