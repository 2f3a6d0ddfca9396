#include "text_table.hpp"

#include <array>
#include <cstdio>

namespace ouro {

TextTable& TextTable::group(std::string_view title) {
    if (!text_.empty()) text_ += '\n';
    text_.append(title).append("\n");
    return *this;
}

TextTable& TextTable::line(std::string_view subject, std::string_view value) {
    constexpr std::size_t kValueColumn = 24;
    text_.append("  ").append(subject);
    text_.append(subject.size() < kValueColumn ? kValueColumn - subject.size() : 1, ' ');
    text_.append(value).append("\n");
    return *this;
}

std::string size_text(std::uint64_t bytes) {
    constexpr std::array kUnits{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    constexpr std::uint64_t kStep = 1024;
    std::size_t unit = 0;
    std::uint64_t divisor = 1;
    while (bytes / divisor >= kStep) {
        divisor *= kStep;
        ++unit;
    }
    std::array<char, 32> text{};
    if (bytes % divisor == 0) {
        std::snprintf(text.data(), text.size(), "%llu %s", static_cast<unsigned long long>(bytes / divisor),
                      kUnits[unit]);
    } else {
        std::snprintf(text.data(), text.size(), "%.1f %s",
                      static_cast<double>(bytes) / static_cast<double>(divisor), kUnits[unit]);
    }
    return text.data();
}

}  // namespace ouro
