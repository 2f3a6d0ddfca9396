#pragma once

#include <span>

namespace ouro::process_heap {

// What a code address in a report is: as ouro::locate_call_site says it, but of this library itself the name
// only.
void name_call_site(const void* address, std::span<char> text);

}  // namespace ouro::process_heap
