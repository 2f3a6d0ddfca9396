#pragma once

#include "report_model.hpp"

#include <nlohmann/json.hpp>

namespace ouro {

// What report_text tells, for programs: bytes, counts and seconds as numbers, and all of it, however long.
[[nodiscard]] nlohmann::ordered_json report_json(const Report& report);

}  // namespace ouro
