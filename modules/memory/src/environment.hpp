#pragma once

namespace ouro::detail {

// The value of an environment variable, or null where it is not set or there is no environment.
[[nodiscard]] const char* environment_value(const char* variable) noexcept;

}  // namespace ouro::detail
