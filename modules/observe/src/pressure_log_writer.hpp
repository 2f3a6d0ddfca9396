#pragma once

#include <ouro/observe/pressure_log.hpp>

namespace ouro::detail {

// As the next one; the record's number is ignored.
void add_to_pressure_log(const PressureRecord& record) noexcept;

}  // namespace ouro::detail
