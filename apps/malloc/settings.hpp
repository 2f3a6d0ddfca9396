#pragma once

#include <cstddef>

// What the environment variable OUROBOROS_MALLOC says: words separated by commas, `help` lists them.
namespace ouro::process_heap {

struct Settings {
    // Free memory above this, beyond as much as is in use, is returned to the system at once.
    std::size_t purge_bytes = std::size_t{32} << 20;
    bool statistics_at_exit = false;
};

[[nodiscard]] const Settings& settings() noexcept;

// Once, before anything else. Complains to standard error about what it does not understand, and goes on.
void read_settings() noexcept;

}  // namespace ouro::process_heap
