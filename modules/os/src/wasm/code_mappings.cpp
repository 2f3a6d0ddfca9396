#include <ouro/os/code_mappings.hpp>

namespace ouro::os {

// Code has no addresses.
Expected<void> for_each_code_mapping(CodeMappingVisitor, void*) noexcept {
    return Status::not_supported;
}

}  // namespace ouro::os
