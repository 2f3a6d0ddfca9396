#pragma once

#include <ouro/base/expected.hpp>

namespace ouro {

// Writes what is known of the program's memory at this moment to a file, for `ouro report <file>` and
// `ouro streams <file>`: tags, budgets, events and everything else that observes, the table of blocks, and
// the list of the loaded modules, so that sites get names later. The file appears whole or not at all, in
// place of one of that name, and ends with a checksum. Others may allocate meanwhile; their latest counts may
// be missing then. Allocates nothing.
//
// Fails with bad_argument (no path, one of more than os::FileOutput::kMaxPathBytes, or something there that
// is not a plain file, such as a folder), not_found (the folder), permission_denied, too_many_files, io_error
// (a full disk too), out_of_memory (there is no image) or os_error; not_supported in wasm32.
Expected<void> save_recording(const char* path) noexcept;

// Lets other programs of the same user read this process's memory, `ouro report <number>` among them, where
// the system allows that to its parents only (Linux: a kernel.yama.ptrace_scope of 1). It takes the place of
// what the program itself has told the system of that (PR_SET_PTRACER), and lets debuggers in as well: so
// nothing here does it unasked. Fails with not_supported where there is no such rule, and nothing to be done.
Expected<void> allow_reports() noexcept;

}  // namespace ouro
