#include "layout_tables.hpp"

#include <algorithm>

namespace ouro {
namespace {

constexpr std::size_t kLongestLine = 118;

std::string number(std::uint64_t value) {
    return std::to_string(value);
}

// Bytes in a row that are one text.
bool is_text(const LayoutField& field) {
    return field.kind == "character" && field.count > 1 && field.element_bytes == 1;
}

// What a field is in a script, and how it is read at a place.
struct Reading {
    std::string type;
    std::string text;
};

Reading reading_of(const LayoutField& field, const std::string& place) {
    const std::string bytes = number(field.element_bytes);
    if (is_text(field))
        return {"string", "readCharacters(this.view, " + place + ", " + number(field.count) + ")"};
    if (field.kind == "text") return {"string", "readText(this.view, " + place + ", " + bytes + ")"};
    const bool is_wide = field.element_bytes == 8;
    const std::string width = number(field.element_bytes * 8U);
    const std::string order = field.element_bytes == 1 ? ")" : ", true)";
    if (field.kind == "floating") return {"number", "this.view.getFloat" + width + "(" + place + order};
    const std::string sign = field.kind == "signed" ? "Int" : "Uint";
    return {is_wide ? "bigint" : "number",
            "this.view.get" + std::string(is_wide ? "Big" : "") + sign + width + "(" + place + order};
}

class Script {
public:
    explicit Script(bool has_types) : has_types_(has_types) {}

    std::string write(const Layout& layout) {
        line(
            "// What a world is in an image. Written by ouro_write_layout from the structures of C++: change "
            "those,");
        line("// and write it again (docs/ecs-tools.md).");
        line("");
        for (const LayoutConstant& constant : layout.constants)
            write_constant(constant);
        write_helpers();
        for (const LayoutStruct& each : layout.structs)
            write_struct(each);
        write_check();
        return std::move(text_);
    }

private:
    std::string type(std::string_view text) const { return has_types_ ? std::string(text) : ""; }
    void line(const std::string& text) { text_ += text + "\n"; }

    void write_constant(const LayoutConstant& constant) {
        const std::string end = type(" as const") + ";";
        const std::string& value = constant.script.empty() ? constant.value : constant.script;
        const std::string whole = "export const " + constant.name + " = " + value + end;
        if (whole.size() <= kLongestLine) return line(whole);
        // A list: its elements for themselves.
        line("export const " + constant.name + " = [");
        line("  " + constant.value.substr(1, constant.value.size() - 2) + ",");
        line("]" + end);
    }

    void write_helpers() {
        const std::string parameters = "(view" + type(": DataView") + ", offset" + type(": number") +
                                       ", bytes" + type(": number") + ")" + type(": string");
        line("");
        line("// Up to the first zero.");
        line("function readCharacters" + parameters + " {");
        line("  let text = '';");
        line("  for (let i = 0; i < bytes; i += 1) {");
        line("    const code = view.getUint8(offset + i);");
        line("    if (code === 0) break;");
        line("    text += String.fromCharCode(code);");
        line("  }");
        line("  return text;");
        line("}");
        line("");
        line("// A FixedString: its length, in two bytes when it can be long, then its characters.");
        line("function readText" + parameters + " {");
        line("  const front = bytes - 1 <= 255 ? 1 : 2;");
        line("  const length = front === 1 ? view.getUint8(offset) : view.getUint16(offset, true);");
        line("  const characters = new Uint8Array(view.buffer, view.byteOffset + offset + front,");
        line("    Math.min(length, bytes - front));");
        line("  return new TextDecoder().decode(characters.slice());");
        line("}");
    }

    void write_check() {
        line("");
        line(
            "// Throws unless the world was written by a program whose structures are those of this file; "
            "with the");
        line("// layout_hash of a world that is known, also unless its components are the same.");
        line("export function checkLayout(header" + type(": WorldHeader") + ", known" + type("?: bigint") +
             ")" + type(": void") + " {");
        line("  const text = (hash" + type(": bigint") + ") => `0x${hash.toString(16).padStart(16, '0')}`;");
        line("  if (header.magic !== WORLD_MAGIC) throw new Error('there is no world at this place');");
        line("  if (header.version !== WORLD_VERSION || header.structures_hash !== STRUCTURES_HASH) {");
        line(
            "    throw new Error(`the image is laid out as ${text(header.structures_hash)} (version "
            "${header.version});` +");
        line("      ` these views read ${text(STRUCTURES_HASH)} (version ${WORLD_VERSION})`);");
        line("  }");
        line("  if (known !== undefined && header.layout_hash !== known) {");
        line(
            "    throw new Error(`the components are laid out as ${text(header.layout_hash)}; ${text(known)} "
            "is expected`);");
        line("  }");
        line("}");
    }

    void write_struct(const LayoutStruct& each) {
        line("");
        line("export class " + each.name + " {");
        line("  static " + type("readonly ") + "BYTES = " + number(each.bytes) + ";");
        if (has_types_) {
            line("  readonly view: DataView;");
            line("  readonly base: number;");
        }
        line("  constructor(view" + type(": DataView") + ", base" + type(": number") + ") {");
        line("    this.view = view;");
        line("    this.base = base;");
        line("  }");
        for (const LayoutField& field : each.fields)
            write_field(field);
        line("}");
    }

    // A field is a property; an element of an array is asked for by its number.
    void write_field(const LayoutField& field) {
        std::string name = field.name;
        std::ranges::replace(name, '.', '_');
        if (name.starts_with("unused")) return;
        const bool is_array = field.count > 1 && !is_text(field);
        std::string place = "this.base + " + number(field.offset);
        std::string parameters;
        if (field.structs > 1) {
            parameters = "index" + type(": number");
            place += " + index * " + number(field.stride);
        }
        if (is_array) {
            parameters += (parameters.empty() ? "" : ", ") + std::string("element") + type(": number");
            place += " + element * " + number(field.element_bytes);
        }
        const Reading reading = reading_of(field, place);
        const std::string head = parameters.empty() ? "get " + name + "()" : name + "(" + parameters + ")";
        const std::string whole =
            "  " + head + type(": " + reading.type) + " { return " + reading.text + "; }";
        if (whole.size() <= kLongestLine) return line(whole);
        line("  " + head + type(": " + reading.type) + " {");
        line("    return " + reading.text + ";");
        line("  }");
    }

    bool has_types_;
    std::string text_;
};

}  // namespace

std::string layout_script(const Layout& layout, bool has_types) {
    return Script(has_types).write(layout);
}

std::string layout_json(const Layout& layout) {
    std::string text = "{\n  \"constants\": {\n";
    for (const LayoutConstant& constant : layout.constants)
        text += "    \"" + constant.name + "\": " + constant.value +
                (&constant == &layout.constants.back() ? "\n" : ",\n");
    text += "  },\n  \"structs\": {\n";
    for (const LayoutStruct& each : layout.structs) {
        text += "    \"" + each.name + "\": {\"bytes\": " + number(each.bytes) + ", \"fields\": [\n";
        for (const LayoutField& field : each.fields) {
            text += "      {\"name\": \"" + field.name + "\", \"kind\": \"" + field.kind +
                    "\", \"offset\": " + number(field.offset) +
                    ", \"element_bytes\": " + number(field.element_bytes) +
                    ", \"count\": " + number(field.count);
            if (field.structs > 1)
                text += ", \"structs\": " + number(field.structs) + ", \"stride\": " + number(field.stride);
            text += &field == &each.fields.back() ? "}\n" : "},\n";
        }
        text += &each == &layout.structs.back() ? "    ]}\n" : "    ]},\n";
    }
    return text + "  }\n}\n";
}

}  // namespace ouro
