#pragma once

#include "text_piece.hpp"

#include <ouro/base/field_kind.hpp>
#include <ouro/ecs/component.hpp>
#include <ouro/observe/byte_sink.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ouro::detail {

// Hands text to a sink, and knows how far it is in the line.
class SinkText {
public:
    explicit SinkText(const ByteSink& sink) noexcept : sink_(sink) {}

    SinkText& add(std::string_view part) noexcept {
        if (!part.empty()) sink_.write(sink_.context, part);
        column_ += part.size();
        return *this;
    }
    SinkText& number(std::uint64_t value) noexcept {
        std::array<char, 24> text;
        return add(TextPiece(text).number(value).view());
    }
    // With one digit behind the point.
    SinkText& tenths(std::uint64_t value) noexcept { return number(value / 10).add(".").number(value % 10); }
    SinkText& hexadecimal(std::uint64_t value) noexcept {
        std::array<char, 24> text;
        return add("0x").add(TextPiece(text).number(value, 16).view());
    }
    // What came from elsewhere: without anything that a terminal would obey.
    SinkText& printable(std::string_view part) noexcept {
        std::array<char, 64> text;
        return add(TextPiece(text).printable(part).view());
    }
    // A string of JSON.
    SinkText& quoted(std::string_view part) noexcept {
        add("\"");
        for (const char each : part) {
            if (each == '"' || each == '\\') add("\\");
            add(each >= ' ' && each <= '~' ? std::string_view(&each, 1) : "?");
        }
        return add("\"");
    }
    // Text in SVG.
    SinkText& escaped(std::string_view part) noexcept {
        for (const char each : part) {
            if (each == '<')
                add("&lt;");
            else if (each == '&')
                add("&amp;");
            else
                add(each >= ' ' && each <= '~' ? std::string_view(&each, 1) : "?");
        }
        return *this;
    }
    // 1.5 MiB.
    SinkText& bytes(std::uint64_t value) noexcept {
        constexpr std::array<std::string_view, 4> kUnits = {" B", " KiB", " MiB", " GiB"};
        std::size_t unit = 0;
        std::uint64_t tenth = value * 10;
        for (; tenth >= 10'240 && unit + 1 < kUnits.size(); ++unit)
            tenth /= 1'024;
        return (unit == 0 ? number(value) : tenths(tenth)).add(kUnits[unit]);
    }
    // At least one blank.
    SinkText& pad_to(std::size_t column) noexcept {
        do
            add(" ");
        while (column_ < column);
        return *this;
    }
    SinkText& end_line() noexcept {
        add("\n");
        column_ = 0;
        return *this;
    }

private:
    ByteSink sink_;
    std::size_t column_ = 0;
};

[[nodiscard]] constexpr std::string_view kind_name(ComponentKind kind) noexcept {
    constexpr std::array<std::string_view, 4> kNames = {"column", "tag", "sparse", "singleton"};
    return kNames[static_cast<std::size_t>(kind) % kNames.size()];
}
[[nodiscard]] constexpr std::string_view heat_name(Heat heat) noexcept {
    constexpr std::array<std::string_view, 3> kNames = {"hot", "warm", "cold"};
    return kNames[static_cast<std::size_t>(heat) % kNames.size()];
}
[[nodiscard]] constexpr std::string_view field_kind_name(std::uint8_t kind) noexcept {
    constexpr std::array<std::string_view, 9> kNames = {
        "boolean", "character", "signed", "unsigned", "floating", "text", "handle", "offset", "opaque"};
    return kNames[kind % kNames.size()];
}

}  // namespace ouro::detail
