#pragma once

namespace ouro::process_heap {

// Once, when the library is loaded: see new_delete.cpp.
void look_for_replaced_operators() noexcept;

}  // namespace ouro::process_heap
