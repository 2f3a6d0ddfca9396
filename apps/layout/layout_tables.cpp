#include "layout_tables.hpp"

#include <ouro/base/field_info.hpp>
#include <ouro/base/type_name.hpp>
#include <ouro/ecs/image_layout.hpp>
#include <ouro/ecs/input_block.hpp>
#include <ouro/ecs/input_state.hpp>

#include <array>
#include <cstddef>
#include <cstdlib>

namespace ouro {
namespace {

constexpr std::array<std::string_view, 9> kKinds = {"boolean", "character", "signed", "unsigned", "floating",
                                                    "text",    "handle",    "offset", "opaque"};

// "parts[3].offset" is the field "parts.offset" of the fourth.
struct ElementName {
    std::string name;
    std::uint32_t index = 0;
    bool is_element = false;
};

ElementName parse(std::string_view name) {
    const std::size_t open = name.find('[');
    const std::size_t close = name.find(']');
    if (open == name.npos || close == name.npos || close + 1 >= name.size() || name[close + 1] != '.')
        return {std::string(name)};
    const std::string number(name.substr(open + 1, close - open - 1));
    return {std::string(name.substr(0, open)) + std::string(name.substr(close + 1)),
            static_cast<std::uint32_t>(std::strtoul(number.c_str(), nullptr, 10)), true};
}

void add_field(LayoutStruct& made, const FieldInfo& field) {
    const ElementName parsed = parse(field.name);
    for (LayoutField& known : made.fields) {
        if (!parsed.is_element || known.name != parsed.name) continue;
        if (known.structs == 1) known.stride = field.offset - known.offset;
        // Elements lie one behind the other, or this list is of no use.
        if (field.offset != known.offset + parsed.index * known.stride) std::abort();
        ++known.structs;
        return;
    }
    made.fields.push_back({.name = parsed.name,
                           .kind = std::string(kKinds.at(static_cast<std::size_t>(field.kind))),
                           .offset = field.offset,
                           .element_bytes = field.element_bytes,
                           .count = field.count});
}

template <class T>
void add_struct(Layout& layout) {
    LayoutStruct made{.name = std::string(type_name<T>()), .bytes = sizeof(T), .fields = {}};
    for (const FieldInfo& field : fields_of<T>())
        add_field(made, field);
    layout.structs.push_back(std::move(made));
}

void add_number(Layout& layout, std::string name, std::uint64_t value) {
    layout.constants.push_back({std::move(name), std::to_string(value), {}});
}

std::string quoted(std::string_view text) {
    std::string made(1, '"');
    made.append(text).append(1, '"');
    return made;
}

// JSON has no numbers of 64 bits, scripts have.
void add_hash(Layout& layout, std::string name, std::uint64_t value) {
    std::string digits = "0x";
    for (int digit = 15; digit >= 0; --digit)
        digits += "0123456789abcdef"[value >> (4 * digit) & 15];
    layout.constants.push_back({std::move(name), quoted(digits), digits + "n"});
}

// Up to the first zero.
void add_text(Layout& layout, std::string name, std::string_view text) {
    layout.constants.push_back({std::move(name), quoted(text.substr(0, text.find('\0'))), {}});
}

template <std::size_t kCount>
void add_names(Layout& layout, std::string name, const std::array<std::string_view, kCount>& names) {
    std::string list;
    for (const std::string_view each : names)
        list.append(list.empty() ? "[" : ", ").append(quoted(each));
    layout.constants.push_back({std::move(name), list.append("]"), {}});
}

}  // namespace

Layout world_layout() {
    Layout layout;
    add_text(layout, "IMAGE_MAGIC", {ImageHeader::kMagic.data(), ImageHeader::kMagic.size()});
    add_text(layout, "HEAP_MAGIC", {ImageHeapHeader::kMagic.data(), ImageHeapHeader::kMagic.size()});
    add_text(layout, "WORLD_MAGIC", {WorldHeader::kMagic.data(), WorldHeader::kMagic.size()});
    add_text(layout, "WORLD_ROOT", "ecs");
    each_image_number(
        [&](std::string_view name, std::uint64_t value) { add_number(layout, std::string(name), value); });
    add_hash(layout, "STRUCTURES_HASH", kStructuresHash);
    // Input in shared memory: the record is whole when the sequence is even, and the same before and behind.
    add_text(layout, "INPUT_MAGIC", {InputBlock::kMagic.data(), InputBlock::kMagic.size()});
    add_number(layout, "INPUT_VERSION", InputBlock::kVersion);
    add_number(layout, "INPUT_BLOCK_BYTES", sizeof(InputBlock));
    add_number(layout, "INPUT_SEQUENCE_OFFSET", offsetof(InputBlock, sequence));
    add_number(layout, "INPUT_RECORD_OFFSET", offsetof(InputBlock, words));
    add_names(layout, "COMPONENT_KINDS",
              std::array<std::string_view, 4>{"column", "tag", "sparse", "singleton"});
    add_names(layout, "HEATS", std::array<std::string_view, 3>{"hot", "warm", "cold"});
    add_names(layout, "CHANGES", std::array<std::string_view, 3>{"none", "some", "all"});
    add_names(layout, "FIELD_KINDS", kKinds);
    each_image_struct([&]<class T>() { add_struct<T>(layout); });
    add_struct<InputState>(layout);
    add_struct<InputRecord>(layout);
    return layout;
}

}  // namespace ouro
