#pragma once

#include "report_model.hpp"

#include <cstddef>
#include <string>

namespace ouro {

// Gives names to the frames of the first sites, by the modules' files as far as they are there.
void name_sites(Report& report, const std::string& mappings, std::size_t count);

}  // namespace ouro
