#pragma once

#include <ouro/observe/exports.hpp>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace ouro::detail {

// Collects small pieces for a sink.
class ExportWriter {
public:
    explicit ExportWriter(const ByteSink& sink) noexcept : sink_(sink) {}
    ~ExportWriter() { flush(); }
    ExportWriter(const ExportWriter&) = delete;
    ExportWriter& operator=(const ExportWriter&) = delete;

    ExportWriter& add(std::string_view text) noexcept {
        if (text.size() > bytes_.size() - length_) flush();
        if (text.size() > bytes_.size()) {
            sink_.write(sink_.context, text);
            return *this;
        }
        if (!text.empty()) std::memcpy(bytes_.data() + length_, text.data(), text.size());
        length_ += text.size();
        return *this;
    }
    ExportWriter& add(char character) noexcept { return add(std::string_view(&character, 1)); }

    ExportWriter& add_number(std::uint64_t number, int base = 10) noexcept {
        std::array<char, 24> digits;
        const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, base);
        return add(std::string_view(digits.data(), static_cast<std::size_t>(end.ptr - digits.data())));
    }
    ExportWriter& add_signed(std::int64_t number) noexcept {
        if (number < 0) add('-');
        return add_number(number < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(number)
                                     : static_cast<std::uint64_t>(number));
    }

    void flush() noexcept {
        if (length_ != 0) sink_.write(sink_.context, std::string_view(bytes_.data(), length_));
        length_ = 0;
    }

private:
    ByteSink sink_;
    std::array<char, 1024> bytes_;
    std::size_t length_ = 0;
};

}  // namespace ouro::detail
