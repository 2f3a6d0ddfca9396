#pragma once

#include <ouro/base/expected.hpp>

namespace ouro::os {

// Where a code address lies: in which file, and in which function as far as the file tells others its names.
// The texts are the loader's and stay while the file is loaded.
struct CodePlace {
    const char* module = nullptr;
    const void* module_start = nullptr;
    // Null where none is known.
    const char* function = nullptr;
    const void* function_start = nullptr;
};

// Fails with not_found where no code is, and with not_supported in wasm32. For signal handlers too: it takes
// no memory, and waits at most for a thread that loads a file. Lines and all names: symbolize.hpp.
[[nodiscard]] Expected<CodePlace> find_code(const void* address) noexcept;

}  // namespace ouro::os
