#pragma once

#include <cstdint>

namespace ouro {

// What comes first where several things wait. Never interrupts what has begun.
enum class JobPriority : std::uint8_t {
    high,
    normal,
    low,
};

inline constexpr unsigned kJobPriorities = 3;

}  // namespace ouro
