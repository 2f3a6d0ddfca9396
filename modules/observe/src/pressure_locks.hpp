#pragma once

#include <ouro/memory/detail/word_lock.hpp>

namespace ouro::detail {

// One writer of the pressure log at a time; readers need no lock.
extern constinit WordLock g_pressure_log_lock;

}  // namespace ouro::detail
