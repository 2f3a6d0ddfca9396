#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ouro {

// A field of a structure, as C++ has it. An array of structs is listed by the fields of its elements, each
// once: "parts.offset", with how many there are and how far apart they lie.
struct LayoutField {
    std::string name;
    std::string kind;
    std::uint32_t offset = 0;
    std::uint32_t element_bytes = 0;
    // Elements that lie side by side.
    std::uint32_t count = 1;
    // Of an array of structs; 1 and zero for others.
    std::uint32_t structs = 1;
    std::uint32_t stride = 0;
};

struct LayoutStruct {
    std::string name;
    std::uint32_t bytes = 0;
    std::vector<LayoutField> fields;
};

struct LayoutConstant {
    std::string name;
    // As JSON has it.
    std::string value;
    // As scripts have it, where that is something else.
    std::string script;
};

struct Layout {
    std::vector<LayoutConstant> constants;
    std::vector<LayoutStruct> structs;
};

// All that a world is in the image: from layout.hpp, and what leads there.
[[nodiscard]] Layout world_layout();

[[nodiscard]] std::string layout_json(const Layout& layout);
// A module with a class for each structure: as TypeScript, and the same as JavaScript without the types.
[[nodiscard]] std::string layout_script(const Layout& layout, bool has_types);

}  // namespace ouro
