#pragma once

#include <ouro/observe/byte_sink.hpp>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace ouro::detail {

// Gathers pieces of text for a sink.
class MetricsWriter {
public:
    explicit MetricsWriter(const ByteSink& sink) noexcept : sink_(sink) {}
    ~MetricsWriter() { hand_on(); }
    MetricsWriter(const MetricsWriter&) = delete;
    MetricsWriter& operator=(const MetricsWriter&) = delete;

    MetricsWriter& text(std::string_view piece) noexcept {
        while (!piece.empty()) {
            if (used_ == buffer_.size()) hand_on();
            const std::size_t room = buffer_.size() - used_;
            const std::size_t count = piece.size() < room ? piece.size() : room;
            std::memcpy(buffer_.data() + used_, piece.data(), count);
            used_ += count;
            piece.remove_prefix(count);
        }
        return *this;
    }
    MetricsWriter& number(std::uint64_t value) noexcept {
        char digits[20];
        const auto end = std::to_chars(digits, digits + sizeof digits, value);
        return text({digits, static_cast<std::size_t>(end.ptr - digits)});
    }
    MetricsWriter& signed_number(std::int64_t value) noexcept {
        if (value >= 0) return number(static_cast<std::uint64_t>(value));
        return text("-").number(0 - static_cast<std::uint64_t>(value));
    }
    // With three places. Requires: not negative.
    MetricsWriter& decimal(double value) noexcept;
    // As people read it: 1.5 MiB.
    MetricsWriter& bytes(std::uint64_t value) noexcept;
    // A string of JSON with its quotes; bytes that are no UTF-8 become question marks.
    MetricsWriter& quoted(std::string_view value) noexcept;

private:
    void hand_on() noexcept {
        if (used_ != 0) sink_.write(sink_.context, {buffer_.data(), used_});
        used_ = 0;
    }
    void escape(unsigned char byte) noexcept;

    ByteSink sink_;
    std::array<char, 512> buffer_;
    std::size_t used_ = 0;
};

}  // namespace ouro::detail
