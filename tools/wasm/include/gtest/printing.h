#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace testing {

template <typename T>
std::string PrintToString(const T& value);

namespace internal {

std::string print_signed(long long value);
std::string print_unsigned(unsigned long long value);
std::string print_char(long long code);
std::string print_double(double value, int digits);
std::string print_pointer(std::uintptr_t address);
std::string print_text(std::string_view text);
std::string print_bytes(const void* object, std::size_t bytes);

template <typename T>
concept Range = requires(const T& range) {
    range.begin();
    range.end();
    { range.begin() != range.end() } -> std::convertible_to<bool>;
};

template <typename T>
struct IsOptional : std::false_type {};
template <typename T>
struct IsOptional<std::optional<T>> : std::true_type {};

template <typename T>
struct IsPair : std::false_type {};
template <typename A, typename B>
struct IsPair<std::pair<A, B>> : std::true_type {};

template <typename T>
std::string print_range(const T& range) {
    constexpr int kMaxShown = 32;
    std::string out = "{";
    int shown = 0;
    for (const auto& element : range) {
        out += shown == 0 ? " " : ", ";
        if (shown++ == kMaxShown) {
            out += "...";
            break;
        }
        out += PrintToString(element);
    }
    return out + " }";
}

template <typename T>
std::string print_number(T value) {
    if constexpr (std::is_same_v<T, bool>)
        return value ? "true" : "false";
    else if constexpr (std::is_same_v<T, char> || std::is_same_v<T, signed char> ||
                       std::is_same_v<T, unsigned char>)
        return print_char(value);
    else if constexpr (std::is_floating_point_v<T>)
        return print_double(static_cast<double>(value), sizeof(T) == sizeof(float) ? 9 : 17);
    else if constexpr (sizeof(T) > sizeof(long long))
        return print_bytes(&value, sizeof value);
    else if constexpr (std::is_signed_v<T>)
        return print_signed(static_cast<long long>(value));
    else
        return print_unsigned(static_cast<unsigned long long>(value));
}

}  // namespace internal

// A readable form of any value; what has none is shown as its bytes.
template <typename T>
std::string PrintToString(const T& value) {
    using Plain = std::remove_cv_t<T>;
    if constexpr (std::is_arithmetic_v<Plain> || std::is_integral_v<Plain>) {
        return internal::print_number<Plain>(value);
    } else if constexpr (std::is_enum_v<Plain>) {
        return PrintToString(static_cast<std::underlying_type_t<Plain>>(value));
    } else if constexpr (std::is_null_pointer_v<Plain>) {
        return "(nullptr)";
    } else if constexpr (std::is_convertible_v<const T&, const char*>) {
        const char* text = value;
        return text == nullptr ? "(null)" : internal::print_text(text);
    } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
        return internal::print_text(value);
    } else if constexpr (std::is_pointer_v<Plain>) {
        return internal::print_pointer(reinterpret_cast<std::uintptr_t>(value));
    } else if constexpr (internal::IsOptional<Plain>::value) {
        return value.has_value() ? "(" + PrintToString(*value) + ")" : std::string("(nullopt)");
    } else if constexpr (internal::IsPair<Plain>::value) {
        return "(" + PrintToString(value.first) + ", " + PrintToString(value.second) + ")";
    } else if constexpr (internal::Range<Plain> || std::is_array_v<Plain>) {
        return internal::print_range(value);
    } else {
        return internal::print_bytes(&value, sizeof value);
    }
}

// Text that is put together with <<.
class Message {
public:
    Message() = default;

    template <typename T>
    Message& operator<<(const T& value) {
        if constexpr (std::is_same_v<T, char>)
            text_ += value;
        else if constexpr (std::is_convertible_v<const T&, const char*>)
            append(value);
        else if constexpr (std::is_convertible_v<const T&, std::string_view>)
            text_ += std::string_view(value);
        else if constexpr (std::is_same_v<T, Message>)
            text_ += value.text_;
        else
            text_ += PrintToString(value);
        return *this;
    }

    const std::string& text() const { return text_; }
    std::string GetString() const { return text_; }

private:
    void append(const char* text) { text_ += text == nullptr ? "(null)" : text; }

    std::string text_;
};

}  // namespace testing
