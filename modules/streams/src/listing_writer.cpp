#include "listing_writer.hpp"

#include <array>

namespace ouro::detail {

ListingWriter& ListingWriter::bytes(std::uint64_t value) noexcept {
    constexpr std::array<std::string_view, 7> kUnits{" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};
    constexpr unsigned kStepBits = 10;
    unsigned unit = 0;
    while (value >> (kStepBits * (unit + 1)) != 0 && unit + 1 < kUnits.size())
        ++unit;
    const std::uint64_t one = std::uint64_t{1} << (kStepBits * unit);
    number(value / one);
    if (const std::uint64_t tenths = value % one * 10 / one; tenths != 0) text(".").number(tenths);
    return text(kUnits[unit]);
}

ListingWriter& ListingWriter::quoted(std::string_view value) noexcept {
    text("\"");
    for (const char letter : value) {
        const bool is_plain = letter >= ' ' && letter <= '~';
        const char shown = is_plain ? letter : '?';
        if (shown == '"' || shown == '\\') text("\\");
        text({&shown, 1});
    }
    return text("\"");
}

}  // namespace ouro::detail
