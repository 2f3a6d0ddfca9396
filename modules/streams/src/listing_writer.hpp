#pragma once

#include <ouro/observe/byte_sink.hpp>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ouro::detail {

// Hands pieces of text to a sink, and knows how far it is in the line.
class ListingWriter {
public:
    explicit ListingWriter(const ByteSink& sink) noexcept : sink_(sink) {}

    ListingWriter& text(std::string_view piece) noexcept {
        if (!piece.empty()) sink_.write(sink_.context, piece);
        column_ += piece.size();
        return *this;
    }
    ListingWriter& number(std::uint64_t value) noexcept { return digits(value, 10); }
    ListingWriter& address(std::uint64_t value) noexcept { return text("0x").digits(value, 16); }
    // As people read it: 1.5 MiB.
    ListingWriter& bytes(std::uint64_t value) noexcept;
    // A string of JSON with its quotes; bytes that are no plain ASCII become question marks.
    ListingWriter& quoted(std::string_view value) noexcept;
    // Up to a column, at least one blank.
    ListingWriter& pad_to(std::size_t column) noexcept {
        do
            text(" ");
        while (column_ < column);
        return *this;
    }
    ListingWriter& end_line() noexcept {
        text("\n");
        column_ = 0;
        return *this;
    }

private:
    ListingWriter& digits(std::uint64_t value, int base) noexcept {
        char buffer[24];
        const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, base);
        return text({buffer, static_cast<std::size_t>(end.ptr - buffer)});
    }

    ByteSink sink_;
    std::size_t column_ = 0;
};

}  // namespace ouro::detail
