#include <ouro/memory/hardening.hpp>
#include <ouro/memory/memory_resource.hpp>

namespace ouro::detail {

const char OURO_SETTING_SYMBOL(OURO_HARDENING_, OURO_HARDENING) = 0;
const char OURO_SETTING_SYMBOL(OURO_DEFAULT_ALIGNMENT_, OURO_DEFAULT_ALIGNMENT) = 0;

}  // namespace ouro::detail
