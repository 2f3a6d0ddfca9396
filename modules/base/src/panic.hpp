#pragma once

#include <ouro/base/assert.hpp>

// The two things an assert needs from the platform; src/linux and src/wasm provide them.
namespace ouro {

// Prints the failure to standard error without allocating.
void write_error(const AssertFailure& failure) noexcept;

[[noreturn]] void abort_process() noexcept;

}  // namespace ouro
