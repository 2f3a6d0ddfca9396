#include "text_columns.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace ouro {
namespace {

// Letters of UTF-8: all bytes but those that go on with one.
std::size_t width_of(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char byte) {
        return (static_cast<unsigned char>(byte) & 0xc0) != 0x80;
    }));
}

std::string format(const char* pattern, double value) {
    char text[64];
    std::snprintf(text, sizeof text, pattern, value);
    return text;
}

}  // namespace

void TextColumns::add_line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths,
                           std::string& text) const {
    std::string line;
    for (std::size_t column = 0; column < sides_.size(); ++column) {
        if (widths[column] == 0) continue;
        const std::string space(widths[column] - width_of(cells[column]), ' ');
        line.append("  ").append(sides_[column] == Side::left ? cells[column] + space
                                                              : space + cells[column]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text.append(line).append("\n");
}

std::string TextColumns::text() const {
    std::vector<std::size_t> widths(sides_.size(), 0);
    for (std::size_t column = 0; column < sides_.size(); ++column) {
        for (const std::vector<std::string>& row : rows_)
            widths[column] = std::max(widths[column], width_of(row[column]));
        if (!head_.empty() && widths[column] != 0)
            widths[column] = std::max(widths[column], width_of(head_[column]));
    }
    std::string text;
    if (!head_.empty()) add_line(head_, widths, text);
    for (const std::vector<std::string>& row : rows_)
        add_line(row, widths, text);
    return text;
}

std::string count_text(unsigned long long count) {
    constexpr std::size_t kGroup = 3;
    std::string text = std::to_string(count);
    for (std::size_t at = text.size(); at > kGroup;) {
        at -= kGroup;
        text.insert(at, 1, ',');
    }
    return text;
}

std::string duration_text(double seconds) {
    constexpr double kMinute = 60;
    constexpr double kHour = 3600;
    if (seconds < 1e-3) return format("%.0f us", seconds * 1e6);
    if (seconds < 1) return format("%.0f ms", seconds * 1e3);
    if (seconds < kMinute) return format("%.1f s", seconds);
    if (seconds < kHour)
        return format("%.0f min ", std::floor(seconds / kMinute)) +
               format("%.0f s", std::fmod(seconds, kMinute));
    return format("%.0f h ", std::floor(seconds / kHour)) +
           format("%.0f min", std::floor(std::fmod(seconds, kHour) / kMinute));
}

}  // namespace ouro
