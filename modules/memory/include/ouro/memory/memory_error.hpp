#pragma once

#include <ouro/base/memory_block.hpp>
#include <ouro/memory/call_sites.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

// What the hardening tiers found, and what happens then.
namespace ouro {

enum class MemoryError : std::uint8_t {
    overflow,
    underflow,
    use_after_free,
    double_free,
    wrong_size,
    wrong_alignment,
    wrong_resource,
    foreign_pointer,
    leak,
};

// "overflow", "use after free", ...
[[nodiscard]] std::string_view memory_error_name(MemoryError error) noexcept;

struct MemoryErrorReport {
    MemoryError error{};
    // The byte that was touched, or the address that was freed.
    const void* address = nullptr;
    // The block it is about, as it was asked for; null when no block is known there.
    MemoryBlock block{};
    // 0 where it is not known, or where leaked blocks from one place differ in it.
    std::size_t alignment = 0;
    // What the caller said instead, for a wrong size or alignment.
    MemoryBlock said_block{};
    std::size_t said_alignment = 0;
    // The name of the resource that noticed, and of the one that the block belongs to.
    std::string_view resource{};
    std::string_view owner{};
    CallSites allocated_at{};
    CallSites freed_at{};
    // Where it was noticed: the wrong free, or the check.
    CallSites noticed_at{};
    // Of leaks, one report tells of all blocks from the same place.
    std::size_t blocks = 1;
    std::size_t bytes = 0;
    // The system refused the access: the process ends after the report unless somebody handles the fault.
    bool is_fault = false;
};

enum class AfterMemoryError : std::uint8_t {
    // Ends the process as a failed assert does.
    abort,
    // As well as can be: a wrong free is not done, a damaged block is freed as it is known.
    resume,
};

// Called without any lock held, from the thread that noticed; for a fault, in the signal handler. Does
// not throw.
using MemoryErrorHandler = AfterMemoryError (*)(const MemoryErrorReport& report);

// Installs the handler for the whole process and returns the one before. Null brings back print_and_abort.
MemoryErrorHandler set_memory_error_handler(MemoryErrorHandler handler) noexcept;

// The two ready-made handlers. Leaks are printed by both and end nothing.
[[gnu::cold]] AfterMemoryError print_and_abort(const MemoryErrorReport& report);
[[gnu::cold]] AfterMemoryError print_and_resume(const MemoryErrorReport& report);

// Several lines to standard error: what happened, the block, and the call sites.
[[gnu::cold]] void print_memory_error(const MemoryErrorReport& report) noexcept;

// Calls the handler, and aborts when it says so.
[[gnu::cold]] void report_memory_error(const MemoryErrorReport& report) noexcept;

// Writes what is at a code address into `text`, closed by a zero byte: "function (file:line)". The address is
// a byte of the call or instruction itself, as CallSites::code_of gives it.
using CallSiteDescriber = void (*)(const void* address, std::span<char> text);

// The describer that is there from the beginning: the function, where the file that holds the code tells its
// name, and the place in that file, as addr2line takes it: "main+0x1a (/usr/bin/game+0x11aa)". Writes nothing
// where there is no code, and in wasm32. It takes no memory.
void locate_call_site(const void* address, std::span<char> text);

// Names the call sites in printed reports; null leaves plain addresses. symbolized_reports.hpp has one that
// knows lines.
CallSiteDescriber set_call_site_describer(CallSiteDescriber describer) noexcept;

// One line a frame to standard error, as print_memory_error does it.
[[gnu::cold]] void print_call_sites(std::string_view title, const CallSites& sites) noexcept;

}  // namespace ouro
