#pragma once

#include <span>

namespace ouro::process_heap {

// What a code address in a report is: the function, where the library it lies in tells its name, and the
// place in the file, as addr2line takes it: "main+0x1b (/usr/bin/game+0x11ab)". Of this library itself it
// tells the name only; it writes nothing where there is no code. For the signal handler too: it takes no
// memory, and waits at most for a thread that loads a library.
void name_call_site(const void* address, std::span<char> text);

}  // namespace ouro::process_heap
