#include "owner_text.hpp"
#include "text_target.hpp"

#include <ouro/streams/sync_test.hpp>

#include <algorithm>

namespace ouro {
namespace {

// As a debugger shows them, a few at the most.
void write_bytes(detail::ListingWriter& writer, std::span<const std::byte> bytes, bool is_all) noexcept {
    constexpr std::string_view kDigits = "0123456789abcdef";
    for (std::size_t index = 0; index < bytes.size(); ++index) {
        const auto value = std::to_integer<std::size_t>(bytes[index]);
        const char pair[] = {kDigits[value >> 4], kDigits[value & 15]};
        writer.text(index == 0 ? "" : " ").text({pair, sizeof(pair)});
    }
    if (!is_all) writer.text(" ...");
}

void write_place(detail::ListingWriter& writer, const SyncDifference& difference) noexcept {
    constexpr std::uint64_t kShown = 8;
    const auto shown = static_cast<std::size_t>(std::min(difference.bytes, kShown));
    const bool is_all = difference.bytes <= kShown;
    if (difference.segment[0] != '\0') writer.text(" in segment '").text(difference.segment.data()).text("'");
    writer.text(", page ").number(difference.page).text(": ").number(difference.bytes);
    writer.text(difference.bytes == 1 ? " byte" : " bytes").text(" at image offset ");
    writer.number(difference.offset).text(difference.bytes == 1 ? " was " : " were ");
    write_bytes(writer, std::span(difference.first).first(shown), is_all);
    writer.text(difference.bytes == 1 ? " and is " : " and are ");
    write_bytes(writer, std::span(difference.second).first(shown), is_all);
    writer.text(" when simulated again: ");
    detail::write_owner(writer, difference.owner, difference.offset);
}

}  // namespace

std::string_view describe_difference(const SyncDifference& difference, std::span<char> text) noexcept {
    if (text.empty()) return {};
    detail::TextTarget target(text);
    detail::ListingWriter writer(target.sink());
    writer.text("tick ").number(difference.tick).text(" differs");
    if (difference.page_known) {
        write_place(writer, difference);
    } else {
        writer.text(" in ").text(segment_kind_name(difference.kind)).text(" segments: its hash was ");
        writer.address(difference.first_hash).text(" and is ").address(difference.second_hash);
        writer.text(" when simulated again; ");
        writer.text(difference.not_kept == Status::capacity_exhausted
                        ? "with fewer ticks that are read or futures that are kept the bytes are named"
                        : "with more history_bytes the bytes are named");
    }
    return target.finish();
}

}  // namespace ouro
