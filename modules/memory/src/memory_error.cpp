#include "error_text.hpp"

#include <ouro/base/assert.hpp>
#include <ouro/memory/memory_error.hpp>

#include <atomic>

namespace ouro {
namespace {

std::atomic<MemoryErrorHandler> current_handler{print_and_abort};
std::atomic<CallSiteDescriber> current_describer{locate_call_site};

// "3 bytes behind its end": where an address lies, seen from a block.
void add_place(ErrorText& text, const void* address, MemoryBlock block) noexcept {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    const auto begin = reinterpret_cast<std::uintptr_t>(block.data);
    const auto end = begin + block.size;
    if (at < begin) {
        text.add(begin - at, "byte").add(" in front of it");
    } else if (at >= end) {
        text.add(at - end, "byte").add(" behind its end");
    } else {
        text.add("byte ").add(at - begin).add(" of it");
    }
}

void add_block(ErrorText& text, const MemoryErrorReport& report) noexcept {
    if (report.block.is_null()) return;
    text.add("  block: ").add(report.block.size, "byte").add(" at ").add(report.block.data);
    if (report.alignment != 0) text.add(", aligned to ").add(report.alignment);
    text.add("\n");
}

void add_detail(ErrorText& text, const MemoryErrorReport& report) noexcept {
    switch (report.error) {
        case MemoryError::overflow:
        case MemoryError::underflow:
        case MemoryError::use_after_free:
            text.add(": ").add(report.address).add(" was touched, ");
            return add_place(text, report.address, report.block);
        case MemoryError::double_free:
            text.add(": ").add(report.address).add(" was freed already");
            return;
        case MemoryError::wrong_size:
            text.add(": freed as ").add(report.said_block.size, "byte").add(", allocated as ");
            text.add(report.block.size);
            return;
        case MemoryError::wrong_alignment:
            text.add(": freed as aligned to ").add(report.said_alignment).add(", allocated as ");
            text.add(report.alignment);
            return;
        case MemoryError::wrong_resource:
            text.add(": ").add(report.address).add(" belongs to '").add(report.owner).add("'");
            return;
        case MemoryError::foreign_pointer:
            text.add(": ").add(report.address).add(" is not a block of it");
            return;
        case MemoryError::leak:
            text.add(": ").add_leak(report.blocks, report.bytes);
            return;
    }
}

AfterMemoryError print_and(const MemoryErrorReport& report, AfterMemoryError after) noexcept {
    print_memory_error(report);
    return report.error == MemoryError::leak ? AfterMemoryError::resume : after;
}

}  // namespace

std::string_view memory_error_name(MemoryError error) noexcept {
    switch (error) {
        case MemoryError::overflow:
            return "overflow";
        case MemoryError::underflow:
            return "underflow";
        case MemoryError::use_after_free:
            return "use after free";
        case MemoryError::double_free:
            return "double free";
        case MemoryError::wrong_size:
            return "wrong size";
        case MemoryError::wrong_alignment:
            return "wrong alignment";
        case MemoryError::wrong_resource:
            return "wrong resource";
        case MemoryError::foreign_pointer:
            return "foreign pointer";
        case MemoryError::leak:
            return "leak";
    }
    return "?";
}

MemoryErrorHandler set_memory_error_handler(MemoryErrorHandler handler) noexcept {
    return current_handler.exchange(handler != nullptr ? handler : print_and_abort);
}

CallSiteDescriber set_call_site_describer(CallSiteDescriber describer) noexcept {
    return current_describer.exchange(describer);
}

AfterMemoryError print_and_abort(const MemoryErrorReport& report) {
    return print_and(report, AfterMemoryError::abort);
}

AfterMemoryError print_and_resume(const MemoryErrorReport& report) {
    return print_and(report, AfterMemoryError::resume);
}

void print_call_sites(std::string_view title, const CallSites& sites) noexcept {
    if (sites.is_empty()) return;
    ErrorText text;
    text.add("  ").add(title).add(":\n");
    const CallSiteDescriber describer = current_describer.load();
    for (std::size_t index = 0; index < sites.frames().size(); ++index) {
        text.add("    ").add(sites.frames()[index]);
        if (describer != nullptr) {
            char name[512] = {};
            // Written first, because looking up names after a fault may fail in its turn.
            text.flush();
            describer(sites.code_of(index), std::span<char>(name));
            if (name[0] != '\0') text.add(" ").add(name);
        }
        text.add("\n");
    }
}

void print_memory_error(const MemoryErrorReport& report) noexcept {
    {
        ErrorText text;
        text.add("ouroboros: ").add(memory_error_name(report.error));
        text.add(" in '").add(report.resource).add("'");
        add_detail(text, report);
        text.add("\n");
        add_block(text, report);
    }
    print_call_sites("noticed at", report.noticed_at);
    print_call_sites("allocated at", report.allocated_at);
    print_call_sites("freed at", report.freed_at);
}

void report_memory_error(const MemoryErrorReport& report) noexcept {
    const AfterMemoryError after = current_handler.load()(report);
    // A fault ends the process by itself, through the handlers that were there before.
    if (after == AfterMemoryError::resume || report.is_fault) return;
    assert_failed("no memory error", memory_error_name(report.error).data(), __FILE__, __LINE__);
}

}  // namespace ouro
