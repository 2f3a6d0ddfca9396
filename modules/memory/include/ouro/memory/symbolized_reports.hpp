#pragma once

#include <ouro/memory/memory_error.hpp>
#include <ouro/os/symbolize.hpp>

#include <cstdio>
#include <span>

// Names in memory reports. Include this and link ouroboros::symbolize; native only.
namespace ouro {

inline void describe_call_site(const void* address, std::span<char> text) {
    const os::CodeLocation place = os::describe_address(address);
    const char* function = place.function[0] != '\0' ? place.function : "?";
    if (place.line != 0) {
        std::snprintf(text.data(), text.size(), "%s (%s:%u)", function, place.file, place.line);
    } else {
        std::snprintf(text.data(), text.size(), "%s (%s+0x%zx)", function, place.module, place.module_offset);
    }
}

// Looking names up allocates from the process's heap, also when a fault is reported; and it needs more stack
// than a small one of sigaltstack has.
inline void name_call_sites_in_reports() noexcept {
    set_call_site_describer(describe_call_site);
}

}  // namespace ouro
