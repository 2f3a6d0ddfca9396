#include <ouro/os/loaded_library.hpp>

namespace ouro::os {

Expected<LibraryData> find_library_data(std::string_view /*name*/) noexcept {
    return Status::not_supported;
}

}  // namespace ouro::os
