#pragma once

#include "unwind_tables.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace ouro::os {

// Code of a program or a library, as the dynamic linker has loaded it; or one part of it, where others'
// memory may lie between its parts.
struct CodeObject {
    std::uintptr_t start = 0;
    std::uintptr_t end = 0;
    // Of its unwind tables.
    std::uintptr_t index = 0;
    // Stands for what was loaded, and where: another one in its place has another number. Zero when that
    // cannot be told.
    std::uint64_t identity = 0;
    // What the dynamic linker knows of the program itself, which is never unloaded; null for a library.
    const void* program = nullptr;

    [[nodiscard]] bool contains(std::uintptr_t address) const noexcept {
        return address - start < end - start;
    }
};

// Empty when the object's headers tell of no tables in it.
[[nodiscard]] UnwindTables tables_of(const CodeObject& object) noexcept;
// The same for a library whose first page this is.
[[nodiscard]] UnwindTables tables_of_library(const CodeObject& object,
                                             std::span<const std::byte> first_page) noexcept;

// Where in its first page a library's build id lies, from the header of its note on; zero when there is none.
[[nodiscard]] std::size_t find_build_id(std::span<const std::byte> first_page) noexcept;
// The build id there; empty when there is none.
[[nodiscard]] std::span<const std::byte> build_id_at(std::span<const std::byte> first_page,
                                                     std::size_t offset) noexcept;

// What one walk has seen of the objects on its way: callers of the same few ones come in turns. An object is
// looked up anew for each walk, for it may have been unloaded since. No lock, no allocation, safe in a signal
// handler.
class ObjectsOnTheWay {
public:
    // The object around an address of code; null when it is in none with tables.
    [[nodiscard]] const CodeObject* find(std::uintptr_t address) noexcept {
        if (last_->contains(address)) return last_;
        return find_other(address);
    }

private:
    [[gnu::noinline]] const CodeObject* find_other(std::uintptr_t address) noexcept;

    std::array<CodeObject, 4> objects_;
    const CodeObject* last_ = objects_.data();
    std::size_t next_ = 0;
};

}  // namespace ouro::os
