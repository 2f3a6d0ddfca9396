#pragma once

namespace ouro::bench {

// Allocators keep their thread's state where it is reached fastest, in memory that the C library sets aside
// for each thread when the program starts, and little of it is left for libraries that come later. Starts the
// program again with room for them, unless that was done already. To be called first in main(); returns when
// there is nothing to do or it did not work, and then some peers cannot be loaded.
void make_room_for_loaded_libraries(char** arguments) noexcept;

}  // namespace ouro::bench
