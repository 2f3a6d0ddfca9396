#include "describe_module.hpp"

#include <cstdlib>
#include <cstring>

#include <cxxabi.h>

namespace ouro::os {

void copy_cut(char (&target)[256], const char* source) noexcept {
    if (source == nullptr) return;
    const std::size_t length = ::strnlen(source, sizeof target - 1);
    std::memcpy(target, source, length);
    target[length] = '\0';
}

namespace {

void copy_demangled(char (&target)[256], const char* mangled) noexcept {
    if (mangled == nullptr) return;
    // Anything else that demangles is a C function whose name happens to be a type's code, such as `f`.
    if (std::strncmp(mangled, "_Z", 2) != 0) return copy_cut(target, mangled);
    int failure = 0;
    char* plain = abi::__cxa_demangle(mangled, nullptr, nullptr, &failure);
    copy_cut(target, failure == 0 && plain != nullptr ? plain : mangled);
    std::free(plain);
}

}  // namespace

void describe_in_module(Dwfl_Module* module, Dwarf_Addr address, CodeLocation& location) noexcept {
    Dwarf_Addr start = 0;
    copy_cut(location.module,
             ::dwfl_module_info(module, nullptr, &start, nullptr, nullptr, nullptr, nullptr, nullptr));
    location.module_offset = static_cast<std::size_t>(address - start);
    copy_demangled(location.function, ::dwfl_module_addrname(module, address));
    Dwfl_Line* const line = ::dwfl_module_getsrc(module, address);
    if (line == nullptr) return;
    int number = 0;
    copy_cut(location.file, ::dwfl_lineinfo(line, nullptr, &number, nullptr, nullptr, nullptr));
    location.line = number > 0 ? static_cast<unsigned>(number) : 0;
}

}  // namespace ouro::os
