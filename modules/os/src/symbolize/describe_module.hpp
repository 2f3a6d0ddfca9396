#pragma once

#include <ouro/os/symbolize.hpp>

#include <cstddef>

#include <elfutils/libdwfl.h>

namespace ouro::os {

// Cut where it is too long; empty for null.
void copy_cut(char (&target)[256], const char* source) noexcept;

// What libdw knows of an address in one of its modules.
void describe_in_module(Dwfl_Module* module, Dwarf_Addr address, CodeLocation& location) noexcept;

}  // namespace ouro::os
