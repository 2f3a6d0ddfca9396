#pragma once

#include <array>
#include <cstddef>
#include <string_view>

// What compilers call types, made the same for all of them.
namespace ouro::detail {

constexpr bool is_name_character(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || static_cast<unsigned char>(c) >= 0x80;
}

constexpr bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}

constexpr std::string_view trimmed(std::string_view text) noexcept {
    while (!text.empty() && text.front() == ' ')
        text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ')
        text.remove_suffix(1);
    return text;
}

// What a character changes of how many brackets are open.
constexpr int nesting_of(char c) noexcept {
    if (c == '<' || c == '(' || c == '[' || c == '{') return 1;
    return c == '>' || c == ')' || c == ']' || c == '}' ? -1 : 0;
}

// Behind the last :: that is in no brackets: ns::Outer<ns::A>::Inner<ns::B> becomes Inner<ns::B>.
constexpr std::string_view without_scopes(std::string_view text) noexcept {
    std::size_t start = 0;
    int depth = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        depth += nesting_of(text[i]);
        if (depth == 0 && text[i] == ':') start = i + 1;
    }
    return text.substr(start);
}

// Takes the first word off the text.
constexpr std::string_view take_word(std::string_view& text) noexcept {
    std::size_t end = 0;
    while (end < text.size() && is_name_character(text[end]))
        ++end;
    const std::string_view word = text.substr(0, end);
    text = trimmed(text.substr(end));
    return word;
}

// The words that a number's type is made of, which compilers put in different order, and leave some out.
struct NumberWords {
    unsigned longs = 0, others = 0, words = 0;
    bool is_short = false, is_unsigned = false, is_signed = false;
    bool is_char = false, is_int = false, is_float = false, is_double = false;

    constexpr void add(std::string_view word) noexcept {
        ++words;
        if (word == "long")
            ++longs;
        else if (word == "short")
            is_short = true;
        else if (word == "unsigned")
            is_unsigned = true;
        else if (word == "signed")
            is_signed = true;
        else if (word == "char")
            is_char = true;
        else if (word == "int")
            is_int = true;
        else if (word == "float")
            is_float = true;
        else if (word == "double")
            is_double = true;
        else
            ++others;
    }

    // Empty when it is no number's type, or one whose name is its own.
    [[nodiscard]] constexpr std::string_view name() const noexcept {
        if (words == 0 || others != 0 || (is_double && longs != 0)) return {};
        if (is_double || is_float) return is_double ? "f64" : "f32";
        if (is_char) return is_unsigned ? "u8" : (is_signed ? "i8" : "char");
        if (is_short) return is_unsigned ? "u16" : "i16";
        if (longs > 1 || (longs == 1 && sizeof(long) == 8)) return is_unsigned ? "u64" : "i64";
        return is_unsigned ? "u32" : "i32";
    }
};

constexpr std::string_view number_name(std::string_view text) noexcept {
    NumberWords words;
    while (!text.empty() && is_name_character(text.front()))
        words.add(take_word(text));
    return text.empty() ? words.name() : std::string_view();
}

// A text of up to kCapacity characters, none of which is written before it is known.
template <std::size_t kCapacity>
class NameText {
public:
    [[nodiscard]] constexpr std::string_view view() const noexcept { return {text_.data(), size_}; }

    constexpr void append(std::string_view text) noexcept {
        for (const char c : text)
            text_[size_++] = c;
    }

    // A type, or a value that a template was given, as the compiler has written it. The name is never longer
    // than that.
    constexpr void append_type(std::string_view text) noexcept {
        text = trimmed(text);
        if (text.starts_with("const ")) {
            append("const ");
            return append_type(text.substr(6));
        }
        const std::size_t end = end_of_name(text);
        const std::string_view name = trimmed(without_scopes(text.substr(0, end)));
        const std::string_view number = number_name(name);
        const std::string_view value = last_of_cast(name);
        if (!number.empty())
            append(number);
        else if (!value.empty() && (is_digit(value.front()) || value.front() == '-'))
            append_integer(value);
        else
            append_template(name);
        for (const char c : text.substr(end))
            if (c != ' ') text_[size_++] = c;
    }

private:
    // Where stars, references and the bounds of arrays begin.
    static constexpr std::size_t end_of_name(std::string_view text) noexcept {
        int depth = 0;
        for (std::size_t i = 0; i < text.size(); ++i) {
            if (depth == 0 && (text[i] == '*' || text[i] == '&' || text[i] == '[')) return i;
            depth += nesting_of(text[i]);
        }
        return text.size();
    }
    // Values of an enum that have no name: one compiler says which enum that is, the other does not.
    static constexpr std::string_view last_of_cast(std::string_view text) noexcept {
        const std::size_t end = text.starts_with('(') ? text.rfind(')') : std::string_view::npos;
        return end == std::string_view::npos || end + 1 == text.size() ? text : text.substr(end + 1);
    }
    // Without the suffix that says of which type it is.
    constexpr void append_integer(std::string_view text) noexcept {
        for (const char c : text)
            if (is_digit(c) || c == '-') text_[size_++] = c;
    }
    constexpr void append_template(std::string_view name) noexcept {
        const std::size_t open = name.find('<');
        if (open == 0 || open == std::string_view::npos || name.back() != '>') return append(name);
        append(name.substr(0, open + 1));
        std::string_view arguments = name.substr(open + 1, name.size() - open - 2);
        while (!trimmed(arguments).empty()) {
            const std::size_t end = end_of_argument(arguments);
            append_type(arguments.substr(0, end));
            arguments = arguments.substr(end);
            if (!arguments.empty()) {
                arguments.remove_prefix(1);
                append(", ");
            }
        }
        append(">");
    }
    static constexpr std::size_t end_of_argument(std::string_view text) noexcept {
        int depth = 0;
        for (std::size_t i = 0; i < text.size(); ++i) {
            if (depth == 0 && text[i] == ',') return i;
            depth += nesting_of(text[i]);
        }
        return text.size();
    }

    // Holds the zero at the end, too.
    std::array<char, kCapacity + 1> text_{};
    std::size_t size_ = 0;
};

}  // namespace ouro::detail
