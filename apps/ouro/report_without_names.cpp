#include "report_names.hpp"

namespace ouro {

// This build has no libdw: sites stay addresses.
void name_sites(Report&, const std::string&, std::size_t) {}

}  // namespace ouro
