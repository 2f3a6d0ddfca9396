#include "call_site_names.hpp"

#include <ouro/memory/memory_error.hpp>
#include <ouro/os/code_place.hpp>

#include <algorithm>
#include <string_view>

namespace ouro::process_heap {

void name_call_site(const void* address, std::span<char> text) {
    constexpr std::string_view kOwn = "(libouroboros-malloc)";
    const auto place = os::find_code(address);
    const auto own = os::find_code(reinterpret_cast<const void*>(&name_call_site));
    const bool is_own = place && own && place->module_start == own->module_start;
    if (!is_own || text.size() <= kOwn.size()) return locate_call_site(address, text);
    *std::copy(kOwn.begin(), kOwn.end(), text.data()) = '\0';
}

}  // namespace ouro::process_heap
