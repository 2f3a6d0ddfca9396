#include "text_writer.hpp"

#include <ouro/memory/memory_error.hpp>
#include <ouro/os/code_place.hpp>

#include <cstdint>

namespace ouro {
namespace {

void add_offset(detail::TextWriter& text, const void* address, const void* start) noexcept {
    text.add("+0x").add_hex(reinterpret_cast<std::uintptr_t>(address) -
                            reinterpret_cast<std::uintptr_t>(start));
}

}  // namespace

void locate_call_site(const void* address, std::span<char> out) {
    detail::TextWriter text(out);
    const auto place = os::find_code(address);
    if (!place) return;
    if (place->function != nullptr) {
        text.add(place->function);
        add_offset(text, address, place->function_start);
        text.add(" ");
    }
    text.add("(").add(place->module);
    add_offset(text, address, place->module_start);
    text.add(")");
}

}  // namespace ouro
