#pragma once

#include <ouro/os/capabilities.hpp>

#include <string>

#include <nlohmann/json.hpp>

namespace ouro {

// The report for people: one line a subject, in groups.
[[nodiscard]] std::string doctor_text(const os::Capabilities& report);

// The same for programs. `features` holds the yes-or-no answers under the names that tests use.
[[nodiscard]] nlohmann::ordered_json doctor_json(const os::Capabilities& report);

}  // namespace ouro
