#include "metrics_writer.hpp"

#include <algorithm>

namespace ouro::detail {
namespace {

struct Sequence {
    std::size_t bytes;
    unsigned char least_second;
    unsigned char most_second;
};

// What may follow the first byte of a character beyond ASCII; no bytes where none can begin so.
Sequence sequence_of(unsigned char first) noexcept {
    if (first >= 0xc2 && first <= 0xdf) return {2, 0x80, 0xbf};
    if (first == 0xe0) return {3, 0xa0, 0xbf};
    if (first == 0xed) return {3, 0x80, 0x9f};
    if (first >= 0xe1 && first <= 0xef) return {3, 0x80, 0xbf};
    if (first == 0xf0) return {4, 0x90, 0xbf};
    if (first >= 0xf1 && first <= 0xf3) return {4, 0x80, 0xbf};
    if (first == 0xf4) return {4, 0x80, 0x8f};
    return {0, 0, 0};
}

// How many bytes the character at the front has; zero when it is none.
std::size_t character_bytes(std::string_view text) noexcept {
    const auto byte = [&](std::size_t at) noexcept { return static_cast<unsigned char>(text[at]); };
    if (byte(0) < 0x80) return 1;
    const Sequence sequence = sequence_of(byte(0));
    if (sequence.bytes == 0 || text.size() < sequence.bytes) return 0;
    if (byte(1) < sequence.least_second || byte(1) > sequence.most_second) return 0;
    for (std::size_t at = 2; at < sequence.bytes; ++at) {
        if (byte(at) < 0x80 || byte(at) > 0xbf) return 0;
    }
    return sequence.bytes;
}

}  // namespace

MetricsWriter& MetricsWriter::decimal(double value) noexcept {
    constexpr double kMost = 1e15;
    const auto thousandths = static_cast<std::uint64_t>(std::min(value, kMost) * 1000 + 0.5);
    const std::uint64_t rest = thousandths % 1000;
    number(thousandths / 1000).text(rest < 10 ? ".00" : rest < 100 ? ".0" : ".");
    return number(rest);
}

MetricsWriter& MetricsWriter::bytes(std::uint64_t value) noexcept {
    constexpr std::string_view kUnits[] = {" B", " KiB", " MiB", " GiB", " TiB"};
    std::size_t unit = 0;
    std::uint64_t rest = 0;
    for (; unit + 1 < std::size(kUnits) && value >= 1024; ++unit) {
        rest = value % 1024;
        value /= 1024;
    }
    const std::uint64_t tenths = (rest * 10 + 512) / 1024;
    number(value + tenths / 10);
    if (unit != 0) text(".").number(tenths % 10);
    return text(kUnits[unit]);
}

void MetricsWriter::escape(unsigned char byte) noexcept {
    constexpr std::string_view kDigits = "0123456789abcdef";
    const char code[] = {'\\', 'u', '0', '0', kDigits[byte >> 4U], kDigits[byte & 15U]};
    text({code, sizeof code});
}

MetricsWriter& MetricsWriter::quoted(std::string_view value) noexcept {
    text("\"");
    while (!value.empty()) {
        const std::size_t count = character_bytes(value);
        const auto first = static_cast<unsigned char>(value.front());
        if (count == 0) {
            text("?");
        } else if (first < 0x20 || first == '"' || first == '\\') {
            escape(first);
        } else {
            text({value.data(), count});
        }
        value.remove_prefix(std::max<std::size_t>(count, 1));
    }
    return text("\"");
}

}  // namespace ouro::detail
