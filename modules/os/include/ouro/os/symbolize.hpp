#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

// Names for addresses, and full unwinding. A target of its own (ouroboros::symbolize) because it needs libdw
// and libunwind; native only. These functions may allocate from the process's heap, and describe_address
// reads debug information from disk the first time: for reports, not for hot paths.
namespace ouro::os {

struct CodeLocation {
    // Demangled; empty when unknown. Long names are cut.
    char function[256] = {};
    // In the function itself, at the call of what was inlined there. Empty and 0 without debug information.
    char file[256] = {};
    unsigned line = 0;
    // The program or shared library, and the address as its file calls it, which addr2line takes; empty when
    // the address is in none.
    char module[256] = {};
    std::size_t module_offset = 0;
};

// Says what code is at the address. Thread-safe. A return address points behind its call: pass the address
// minus one to name the call's own line.
[[nodiscard]] CodeLocation describe_address(const void* address) noexcept;

// Names for the addresses of another process, running or ended, by the lines of visit_mapping_lines. Files
// that are not there any more, or are others by now, give no names: then only the module and the offset are
// known. Not thread-safe.
class MappedCode {
public:
    // The text must live as long.
    explicit MappedCode(std::string_view mappings) noexcept;
    ~MappedCode();
    MappedCode(const MappedCode&) = delete;
    MappedCode& operator=(const MappedCode&) = delete;

    [[nodiscard]] CodeLocation describe(std::uint64_t address) noexcept;

private:
    [[nodiscard]] bool list_modules() noexcept;

    std::string_view mappings_;
    // The lines, sorted by address, once an address was asked for that libdw does not know.
    void* lines_ = nullptr;
    std::size_t line_count_ = 0;
    bool has_listed_ = false;
    // libdw's session; null without one.
    void* session_ = nullptr;
};

// As capture_stack, with the unwind tables instead of frame pointers: complete, and slower.
[[nodiscard]] std::size_t unwind_stack(std::span<void*> frames, unsigned skip = 0) noexcept;

}  // namespace ouro::os
