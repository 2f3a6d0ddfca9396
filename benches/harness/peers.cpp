#include "harness/peers.hpp"

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <sys/utsname.h>

namespace ouro::bench {
namespace {

PeerLibrary open_library(const std::string& file) {
    return PeerLibrary(::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND | RTLD_NODELETE));
}

}  // namespace

void* PeerLibrary::symbol(const char* name) const noexcept {
    return handle_ != nullptr ? ::dlsym(handle_, name) : nullptr;
}

PeerLibrary PeerFolder::load_from_folder(const std::string& file, std::string_view name) const {
    if (folder_.empty()) return {};
    for (const auto& place : {folder_ / file, folder_ / "lib" / file, folder_ / std::string(name) / file}) {
        if (!std::filesystem::exists(place)) continue;
        const PeerLibrary library = open_library(std::filesystem::absolute(place).string());
        if (library.is_loaded()) return library;
    }
    return {};
}

PeerLibrary PeerFolder::load(std::string_view name, std::string_view interface_number) const {
    const std::string file = "lib" + std::string(name) + ".so";
    const std::string numbered = interface_number.empty() ? file : file + "." + std::string(interface_number);
    for (const std::string& wanted : {numbered, file}) {
        const PeerLibrary library = load_from_folder(wanted, name);
        if (library.is_loaded()) return library;
    }
    return open_library(numbered);
}

std::string kernel_version() {
    utsname names{};
    if (::uname(&names) != 0) return "unknown";
    const std::string release = names.release;
    return std::string(names.sysname) + " " + release.substr(0, release.find_first_not_of("0123456789."));
}

std::string libc_version() {
    return std::string("glibc ") + ::gnu_get_libc_version();
}

std::string standard_library_version() {
#if defined(_GLIBCXX_RELEASE)
    return "libstdc++ " + std::to_string(_GLIBCXX_RELEASE);
#else
    return "libc++ " + std::to_string(_LIBCPP_VERSION);
#endif
}

}  // namespace ouro::bench
