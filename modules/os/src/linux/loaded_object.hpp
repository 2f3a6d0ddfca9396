#pragma once

#include <ouro/base/expected.hpp>

#include <cstdint>
#include <span>
#include <string_view>

#include <link.h>

namespace ouro::os {

// A program or library as the loader has it.
struct LoadedObject {
    std::uintptr_t base = 0;
    std::span<const ElfW(Phdr)> segments;
    // What the loader calls it; empty for the program itself.
    const char* path = nullptr;

    [[nodiscard]] const ElfW(Phdr) * segment(std::uint32_t type) const noexcept;
    // A value of its dynamic section, or zero.
    [[nodiscard]] std::uintptr_t dynamic(ElfW(Sxword) tag) const noexcept;
    // The same where the value is an address.
    [[nodiscard]] std::uintptr_t dynamic_address(ElfW(Sxword) tag) const noexcept;
    // What the loader writes when functions of other libraries are found, at the latest on their first calls;
    // nothing where it is done before the program starts.
    [[nodiscard]] std::span<std::uintptr_t> lazy_slots() const noexcept;
};

// By the name of its file, with or without what follows ".so"; the empty name is the program itself. Fails
// with not_found, and with bad_argument where several have the name.
[[nodiscard]] Expected<LoadedObject> find_loaded_object(std::string_view name) noexcept;

}  // namespace ouro::os
