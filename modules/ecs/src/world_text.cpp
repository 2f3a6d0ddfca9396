#include "text_piece.hpp"

#include <ouro/base/fixed_string.hpp>
#include <ouro/ecs/image_layout.hpp>
#include <ouro/ecs/world_text.hpp>

#include <cstring>

namespace ouro {
namespace {

using detail::TextPiece;

std::uint64_t unsigned_of(std::span<const std::byte> bytes) noexcept {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data(), std::min(bytes.size(), sizeof(value)));
    return value;
}

void add_layout(TextPiece& text, std::uint64_t hash, std::uint32_t version) noexcept {
    text.add("0x");
    for (int digit = 15; digit >= 0; --digit)
        text.number(hash >> (4 * digit) & 15, 16);
    text.add(" (version ").number(version).add(")");
}

std::int64_t signed_of(std::span<const std::byte> bytes) noexcept {
    const auto unused = static_cast<unsigned>(64 - 8 * std::min<std::size_t>(bytes.size(), 8));
    return static_cast<std::int64_t>(unsigned_of(bytes) << unused) >> unused;
}

void add_entity(TextPiece& text, Entity entity) noexcept {
    if (entity.is_null()) {
        text.add("none");
        return;
    }
    text.number(entity.index()).add(":").number(entity.generation());
}

// A FixedString's length, then its characters.
void add_text(TextPiece& text, std::span<const std::byte> bytes) noexcept {
    const std::size_t front = bytes.size() - 1 <= UINT8_MAX ? 1 : 2;
    const std::uint64_t said = unsigned_of(bytes.first(std::min(front, bytes.size())));
    const std::uint64_t room = bytes.size() - std::min(front, bytes.size());
    const auto length = static_cast<std::size_t>(std::min(said, room));
    text.add("\"").printable({reinterpret_cast<const char*>(bytes.data() + front), length}).add("\"");
}

void add_hexadecimal(TextPiece& text, std::span<const std::byte> bytes) noexcept {
    constexpr std::string_view kDigits = "0123456789abcdef";
    text.add("0x");
    for (std::size_t i = bytes.size(); i-- != 0 && !text.is_full();) {
        const auto value = static_cast<unsigned>(bytes[i]);
        text.add(kDigits.substr(value >> 4, 1)).add(kDigits.substr(value & 15, 1));
    }
}

void add_element(TextPiece& text, FieldKind kind, std::span<const std::byte> bytes) noexcept {
    switch (kind) {
        case FieldKind::boolean:
            text.add(unsigned_of(bytes) != 0 ? "true" : "false");
            return;
        case FieldKind::character:
            text.add("'").printable({reinterpret_cast<const char*>(bytes.data()), 1}).add("'");
            return;
        case FieldKind::signed_integer:
            text.number(signed_of(bytes));
            return;
        case FieldKind::unsigned_integer:
            text.number(unsigned_of(bytes));
            return;
        case FieldKind::floating:
            if (bytes.size() == sizeof(float)) {
                float value = 0;
                std::memcpy(&value, bytes.data(), sizeof(value));
                return add_floating(text, value);
            }
            if (bytes.size() == sizeof(double)) {
                double value = 0;
                std::memcpy(&value, bytes.data(), sizeof(value));
                return add_floating(text, value);
            }
            break;
        case FieldKind::text:
            return add_text(text, bytes);
        case FieldKind::handle:
            if (bytes.size() == sizeof(Entity))
                return add_entity(text, Entity::from_bits(unsigned_of(bytes)));
            break;
        case FieldKind::offset:
        case FieldKind::opaque:
            break;
    }
    add_hexadecimal(text, bytes);
}

void add_value(TextPiece& text, const FieldRecord& field, std::span<const std::byte> value) noexcept {
    const auto kind = static_cast<FieldKind>(field.kind);
    const std::size_t bytes = field.element_bytes;
    if (bytes == 0 || value.size() < bytes * field.count) return;
    // Characters in a row are a text, up to the first zero.
    if (kind == FieldKind::character && field.count > 1 && bytes == 1) {
        const std::string_view all(reinterpret_cast<const char*>(value.data()), field.count);
        text.add("\"").printable(all.substr(0, all.find('\0'))).add("\"");
        return;
    }
    if (field.count == 1) return add_element(text, kind, value.first(bytes));
    text.add("[");
    for (std::uint32_t i = 0; i < field.count && !text.is_full(); ++i) {
        if (i != 0) text.add(", ");
        add_element(text, kind, value.subspan(i * bytes, bytes));
    }
    text.add("]");
}

}  // namespace

std::string_view describe_entity(Entity entity, std::span<char> text) noexcept {
    TextPiece piece(text);
    add_entity(piece, entity);
    return piece.view();
}

std::string_view describe_value(const FieldRecord& field, std::span<const std::byte> value,
                                std::span<char> text) noexcept {
    TextPiece piece(text);
    add_value(piece, field, value);
    return piece.view();
}

std::string_view describe_change(const WorldChange& change, std::span<char> text) noexcept {
    using Kind = WorldChange::Kind;
    TextPiece piece(text);
    if (change.entity.is_null()) {
        piece.add("world");
    } else {
        add_entity(piece, change.entity);
    }
    piece.add(" ");
    if (!change.component.empty()) piece.printable(change.component);
    switch (change.kind) {
        case Kind::spawned:
            return piece.add("spawned").view();
        case Kind::destroyed:
            return piece.add("destroyed").view();
        case Kind::added:
            return piece.add(" added").view();
        case Kind::removed:
            return piece.add(" removed").view();
        case Kind::disabled:
            return piece.add(" disabled").view();
        case Kind::enabled:
            return piece.add(" enabled").view();
        case Kind::changed:
            break;
    }
    piece.add(".").printable(change.field->name.view()).add(" ");
    add_value(piece, *change.field_before, change.before);
    piece.add(" -> ");
    add_value(piece, *change.field, change.after);
    return piece.view();
}

std::string_view describe_layout(const LayoutFound& found, std::span<char> text) noexcept {
    if (text.empty()) return {};
    TextPiece piece(text);
    add_layout(piece.add("is laid out as "), found.structures_hash, found.version);
    add_layout(piece.add("; this program reads "), kStructuresHash, WorldHeader::kVersion);
    return piece.view();
}

}  // namespace ouro
