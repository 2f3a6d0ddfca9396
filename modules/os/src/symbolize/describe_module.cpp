#include "describe_module.hpp"

#include <cstdlib>
#include <cstring>

#include <cxxabi.h>
#include <dwarf.h>

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

enum class Wanted : unsigned char { function, inlined };

// Whether the search goes on inside: what has no addresses of its own, and code around the wanted one.
bool is_searched(Dwarf_Die& die, Wanted wanted, Dwarf_Addr address) noexcept {
    const int tag = ::dwarf_tag(&die);
    if (wanted == Wanted::function) return tag == DW_TAG_namespace;
    return tag == DW_TAG_lexical_block && ::dwarf_haspc(&die, address) == 1;
}

// The outermost piece of code around an address that is of the wanted kind. libdw's own search finds none in
// namespaces, where some compilers put them.
bool find_code(Dwarf_Die& parent, Wanted wanted, Dwarf_Addr address, Dwarf_Die& found) noexcept {
    const int tag = wanted == Wanted::function ? DW_TAG_subprogram : DW_TAG_inlined_subroutine;
    Dwarf_Die child;
    if (::dwarf_child(&parent, &child) != 0) return false;
    do {
        if (::dwarf_tag(&child) == tag && ::dwarf_haspc(&child, address) == 1) {
            found = child;
            return true;
        }
        if (is_searched(child, wanted, address) && find_code(child, wanted, address, found)) return true;
    } while (::dwarf_siblingof(&child, &child) == 0);
    return false;
}

// The line that called it, where it was inlined into.
bool describe_call(Dwarf_Die* unit, Dwarf_Die& inlined, CodeLocation& location) noexcept {
    Dwarf_Attribute attribute;
    Dwarf_Word file = 0;
    Dwarf_Word line = 0;
    Dwarf_Files* files = nullptr;
    std::size_t file_count = 0;
    if (::dwarf_formudata(::dwarf_attr(&inlined, DW_AT_call_line, &attribute), &line) != 0 ||
        ::dwarf_formudata(::dwarf_attr(&inlined, DW_AT_call_file, &attribute), &file) != 0 ||
        ::dwarf_getsrcfiles(unit, &files, &file_count) != 0 || file >= file_count)
        return false;
    copy_cut(location.file, ::dwarf_filesrc(files, file, nullptr, nullptr));
    location.line = static_cast<unsigned>(line);
    return true;
}

// The compiled unit of an address. Some compilers leave out the table that tells it: then all are asked. What
// the table says of an address that is in no unit, as code without debug information is, may be the unit
// before.
Dwarf_Die* unit_at(Dwfl_Module* module, Dwarf_Addr address, Dwarf_Addr& bias) noexcept {
    Dwarf_Die* const told = ::dwfl_module_addrdie(module, address, &bias);
    if (told != nullptr && ::dwarf_haspc(told, address - bias) == 1) return told;
    for (Dwarf_Die* unit = nullptr; (unit = ::dwfl_module_nextcu(module, unit, &bias)) != nullptr;) {
        if (::dwarf_haspc(unit, address - bias) == 1) return unit;
    }
    return nullptr;
}

// The function is named by its symbol: what was inlined into it has no name there, and its lines would be
// those of others. False where the address is in nothing inlined.
bool describe_inlined(Dwarf_Die* unit, Dwarf_Addr address, CodeLocation& location) noexcept {
    Dwarf_Die function;
    Dwarf_Die inlined;
    return find_code(*unit, Wanted::function, address, function) &&
           find_code(function, Wanted::inlined, address, inlined) && describe_call(unit, inlined, location);
}

// As the file itself calls it, which is what addr2line takes.
Dwarf_Addr address_in_file(Dwfl_Module* module, Dwarf_Addr address, Dwarf_Addr start) noexcept {
    Dwarf_Addr bias = 0;
    return ::dwfl_module_getelf(module, &bias) != nullptr ? address - bias : address - start;
}

}  // namespace

void describe_in_module(Dwfl_Module* module, Dwarf_Addr address, CodeLocation& location) noexcept {
    Dwarf_Addr start = 0;
    copy_cut(location.module,
             ::dwfl_module_info(module, nullptr, &start, nullptr, nullptr, nullptr, nullptr, nullptr));
    location.module_offset = static_cast<std::size_t>(address_in_file(module, address, start));
    copy_demangled(location.function, ::dwfl_module_addrname(module, address));
    Dwarf_Addr bias = 0;
    Dwarf_Die* const unit = unit_at(module, address, bias);
    if (unit == nullptr || describe_inlined(unit, address - bias, location)) return;
    Dwarf_Line* const line = ::dwarf_getsrc_die(unit, address - bias);
    if (line == nullptr) return;
    int number = 0;
    copy_cut(location.file, ::dwarf_linesrc(line, nullptr, nullptr));
    if (::dwarf_lineno(line, &number) == 0 && number > 0) location.line = static_cast<unsigned>(number);
}

}  // namespace ouro::os
