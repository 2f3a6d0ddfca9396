#pragma once

#include <cstdint>
#include <string_view>

// How a field of a simulation value is described: field_info.hpp finds out.
namespace ouro {

// The values are part of layout hashes and of what is written to files.
enum class FieldKind : std::uint8_t {
    boolean,
    character,
    signed_integer,
    unsigned_integer,
    floating,
    text,    // FixedString
    handle,  // Handle
    offset,  // OffsetPtr
    opaque,  // another class that says of itself that it is a simulation value; many structs in one array
};

struct FieldInfo {
    std::string_view name;
    FieldKind kind;
    std::uint32_t offset;         // from the start of the value, in bytes
    std::uint32_t element_bytes;  // all bytes of the field are count times these
    std::uint32_t count;          // 1, or how many elements the array has
};

}  // namespace ouro
