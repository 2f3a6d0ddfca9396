#pragma once

#include <ouro/observe/detail/observe_image.hpp>

namespace ouro {

// Throws ReportError when these are not the records of this version. `source` names them in the message.
void check_image_header(const detail::ImageHeader& header, const char* source);

}  // namespace ouro
