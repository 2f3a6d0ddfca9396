#pragma once

#include <ouro/base/expected.hpp>

namespace ouro {

// Writes what is known of the program's memory at this moment to a file, for `ouro report <file>`: tags,
// budgets, events and everything else that observes, with the list of the loaded modules, so that sites get
// names later. The file appears whole or not at all, in place of one of that name. Others may allocate
// meanwhile; their latest counts may be missing then. Allocates nothing.
//
// Fails with bad_argument (the path), not_found (the folder), permission_denied, too_many_files, io_error (a
// full disk too), out_of_memory (there is no image) or os_error; not_supported in wasm32.
Expected<void> save_image(const char* path) noexcept;

}  // namespace ouro
