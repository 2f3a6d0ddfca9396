#include "listing_writer.hpp"

#include <ouro/streams/block_listing.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace ouro {
namespace {

using detail::ListingWriter;

bool is_within(const BlockInfo& part, const BlockInfo& whole) noexcept {
    return whole.kind == BlockKind::own && part.base >= whole.base &&
           part.base - whole.base < whole.reserved_bytes;
}

// The registry's index of the block that this one is a part of. Parts of memory that is not listed have none.
std::optional<std::size_t> find_whole(const BlockInfo& part) noexcept {
    if (part.kind != BlockKind::borrowed) return std::nullopt;
    for (std::size_t index = 0; index < listed_block_limit(); ++index) {
        const auto block = block_at(index);
        if (block && is_within(part, *block)) return index;
    }
    return std::nullopt;
}

struct Sums {
    std::uint64_t reserved_bytes = 0;
    std::uint64_t committed_bytes = 0;
    std::uint64_t cursor_bytes = 0;
};

// Where the columns of the text end.
constexpr std::size_t kTag = 32;
constexpr std::size_t kKind = 50;
constexpr std::size_t kReserved = 61;
constexpr std::size_t kCommitted = 73;
constexpr std::size_t kCursor = 85;
constexpr std::size_t kHighWater = 97;
constexpr std::size_t kAddress = 109;

void write_line(ListingWriter& writer, const BlockInfo& block, bool is_part) noexcept {
    writer.text(is_part ? "  " : "").text(block.name()).pad_to(kTag);
    writer.text(tag_name(block.tag)).pad_to(kKind).text(block_kind_name(block.kind)).pad_to(kReserved);
    writer.bytes(block.reserved_bytes).pad_to(kCommitted).bytes(block.committed_bytes).pad_to(kCursor);
    writer.bytes(block.cursor_bytes).pad_to(kHighWater).bytes(block.peak_bytes);
    if (block.base != 0) writer.pad_to(kAddress).address(block.base);
    writer.end_line();
}

void write_parts_of(ListingWriter& writer, std::size_t whole) noexcept {
    visit_blocks([&](const BlockInfo& block) {
        if (find_whole(block) == whole) write_line(writer, block, true);
    });
}

// The entries are numbered anew: those of the registry have gaps.
std::size_t position_of(std::size_t index) noexcept {
    std::size_t position = 0;
    for (std::size_t before = 0; before < index; ++before)
        position += block_at(before) ? 1U : 0U;
    return position;
}

void write_entry(ListingWriter& writer, const BlockInfo& block) noexcept {
    writer.text("{\"name\":").quoted(block.name()).text(",\"tag\":").quoted(tag_name(block.tag));
    writer.text(",\"kind\":").quoted(block_kind_name(block.kind)).text(",\"within\":");
    if (const auto whole = find_whole(block)) {
        writer.number(position_of(*whole));
    } else {
        writer.text("null");
    }
    writer.text(",\"base\":");
    if (block.base != 0) {
        writer.text("\"").address(block.base).text("\"");
    } else {
        writer.text("null");
    }
    writer.text(",\"reserved_bytes\":").number(block.reserved_bytes);
    writer.text(",\"committed_bytes\":").number(block.committed_bytes);
    writer.text(",\"cursor_bytes\":").number(block.cursor_bytes);
    writer.text(",\"high_water_bytes\":").number(block.peak_bytes).text("}");
}

}  // namespace

void write_blocks_text(const ByteSink& sink) noexcept {
    ListingWriter writer(sink);
    writer.text("block").pad_to(kTag).text("tag").pad_to(kKind).text("kind").pad_to(kReserved);
    writer.text("reserved").pad_to(kCommitted).text("committed").pad_to(kCursor).text("cursor");
    writer.pad_to(kHighWater).text("high-water").pad_to(kAddress).text("address").end_line();
    Sums sums;
    visit_blocks([&](const BlockInfo& block) {
        if (find_whole(block)) return;
        write_line(writer, block, false);
        write_parts_of(writer, static_cast<std::size_t>(block.handle.index()));
        if (block.kind == BlockKind::borrowed) return;
        sums.reserved_bytes += block.reserved_bytes;
        sums.committed_bytes += block.committed_bytes;
        sums.cursor_bytes += block.cursor_bytes;
    });
    writer.text("in all").pad_to(kReserved).bytes(sums.reserved_bytes).pad_to(kCommitted);
    writer.bytes(sums.committed_bytes).pad_to(kCursor).bytes(sums.cursor_bytes).end_line();
    if (const std::size_t unlisted = unlisted_block_count(); unlisted != 0)
        writer.number(unlisted).text(" more found the list full").end_line();
}

void write_blocks_json(const ByteSink& sink) noexcept {
    ListingWriter writer(sink);
    writer.text("{\"blocks\":[");
    bool is_first = true;
    visit_blocks([&](const BlockInfo& block) {
        writer.text(is_first ? "" : ",");
        is_first = false;
        write_entry(writer, block);
    });
    writer.text("],\"unlisted\":").number(unlisted_block_count()).text("}").end_line();
}

}  // namespace ouro
