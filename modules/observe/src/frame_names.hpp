#pragma once

#include <ouro/observe/exports.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ouro::detail {

// The files whose code the process runs, as far as there is room. Some kilobytes: on the stack of a report.
class ModuleTable {
public:
    static constexpr std::size_t kMostModules = 256;

    struct Module {
        std::uint64_t begin = 0;
        std::uint64_t end = 0;
        std::uint64_t file_offset = 0;
        // What the file calls `begin`.
        std::uint64_t address_in_file = 0;
        // The end of the path, cut to what fits.
        std::array<char, 40> name = {};
    };

    ModuleTable() noexcept;

    // Null for code that lies in none.
    [[nodiscard]] const Module* find(std::uint64_t address) const noexcept;
    // From one; zero for none.
    [[nodiscard]] std::size_t number_of(const Module* module) const noexcept {
        return module == nullptr ? 0 : static_cast<std::size_t>(module - modules_.data()) + 1;
    }

private:
    std::array<Module, kMostModules> modules_;
    std::size_t count_ = 0;
};

// A call for a return address.
[[nodiscard]] constexpr std::uint64_t call_of(std::uint64_t return_address) noexcept {
    return return_address - 1;
}

// Names for code: the caller's, or the module's with the place in it.
class FrameNamer {
public:
    FrameNamer(const FrameNames& names, const ModuleTable& modules) noexcept
        : names_(names), modules_(modules) {}

    // Valid until the next one.
    [[nodiscard]] std::string_view name(std::uint64_t address) noexcept;

private:
    const FrameNames& names_;
    const ModuleTable& modules_;
    std::array<char, 512> text_ = {};
};

}  // namespace ouro::detail
