#include <ouro/os/code_place.hpp>

#include <dlfcn.h>

namespace ouro::os {

Expected<CodePlace> find_code(const void* address) noexcept {
    Dl_info info{};
    if (::dladdr(address, &info) == 0 || info.dli_fname == nullptr) return Status::not_found;
    CodePlace place{.module = info.dli_fname, .module_start = info.dli_fbase};
    if (info.dli_sname != nullptr) {
        place.function = info.dli_sname;
        place.function_start = info.dli_saddr;
    }
    return place;
}

}  // namespace ouro::os
