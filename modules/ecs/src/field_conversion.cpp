#include "field_conversion.hpp"

#include <algorithm>
#include <cstring>

namespace ouro::detail {
namespace {

using Way = FieldCopy::Way;

constexpr std::string_view kOtherKind = "was saved as another kind of value";
constexpr std::string_view kNarrower = "was saved with more bytes than it has now";
constexpr std::string_view kOtherSize = "was saved as a type of another size";

bool is_integer(FieldKind kind) noexcept {
    return kind == FieldKind::signed_integer || kind == FieldKind::unsigned_integer;
}

template <class To, class From>
void widen(const std::byte* from, std::byte* to) noexcept {
    From narrow;
    std::memcpy(&narrow, from, sizeof(narrow));
    const To wide = static_cast<To>(narrow);
    std::memcpy(to, &wide, sizeof(wide));
}

// Little-endian: the low bytes come first.
void widen_integer(const std::byte* from, std::uint32_t from_bytes, std::span<std::byte> to,
                   bool is_signed) noexcept {
    const bool is_negative = is_signed && (from[from_bytes - 1] & std::byte{0x80}) != std::byte{0};
    std::memset(to.data(), is_negative ? 0xFF : 0, to.size());
    std::memcpy(to.data(), from, from_bytes);
}

// A FixedString: its length in one byte or in two, then the characters.
void copy_text(const std::byte* from, std::uint32_t from_bytes, std::span<std::byte> to) noexcept {
    const auto front = [](std::size_t bytes) { return bytes - 1 <= UINT8_MAX ? 1U : 2U; };
    const std::uint32_t room = from_bytes - front(from_bytes);
    std::uint16_t length = 0;
    std::memcpy(&length, from, front(from_bytes));
    length = static_cast<std::uint16_t>(std::min<std::uint32_t>(length, room));
    std::memcpy(to.data(), &length, front(to.size()));
    std::memcpy(to.data() + front(to.size()), from + front(from_bytes), length);
}

void convert_element(const FieldCopy& copy, const std::byte* from, std::span<std::byte> to) noexcept {
    switch (copy.way) {
        case Way::same:
            std::memcpy(to.data(), from, to.size());
            break;
        case Way::widen_signed:
        case Way::widen_unsigned:
            widen_integer(from, copy.from_bytes, to, copy.way == Way::widen_signed);
            break;
        case Way::widen_floating:
            widen<double, float>(from, to.data());
            break;
        case Way::text:
            copy_text(from, copy.from_bytes, to);
            break;
    }
}

}  // namespace

std::string_view plan_copy(const FieldRecord& from, const FieldRecord& to, FieldCopy& copy) noexcept {
    const auto was = static_cast<FieldKind>(from.kind);
    const auto is = static_cast<FieldKind>(to.kind);
    copy = {from.offset, to.offset, from.element_bytes, to.element_bytes, std::min(from.count, to.count),
            Way::same};
    if (was == is && from.element_bytes == to.element_bytes) return {};
    // What was never negative fits into a wider integer that can be.
    const bool becomes_signed = was == FieldKind::unsigned_integer && is == FieldKind::signed_integer;
    if (was != is && !becomes_signed) return kOtherKind;
    if (becomes_signed && from.element_bytes == to.element_bytes) return kOtherKind;
    if (is_integer(was) || is == FieldKind::floating || is == FieldKind::text) {
        if (from.element_bytes > to.element_bytes) return kNarrower;
        if (is == FieldKind::floating) {
            if (from.element_bytes != sizeof(float) || to.element_bytes != sizeof(double)) return kOtherSize;
            copy.way = Way::widen_floating;
        } else {
            copy.way = is == FieldKind::text                ? Way::text
                       : was == FieldKind::unsigned_integer ? Way::widen_unsigned
                                                            : Way::widen_signed;
        }
        return {};
    }
    return kOtherSize;
}

void convert_value(std::span<const FieldCopy> copies, const std::byte* from,
                   std::span<std::byte> to) noexcept {
    std::memset(to.data(), 0, to.size());
    for (const FieldCopy& copy : copies) {
        for (std::uint32_t i = 0; i < copy.count; ++i)
            convert_element(copy, from + copy.from + std::size_t{i} * copy.from_bytes,
                            to.subspan(copy.to + std::size_t{i} * copy.to_bytes, copy.to_bytes));
    }
}

}  // namespace ouro::detail
