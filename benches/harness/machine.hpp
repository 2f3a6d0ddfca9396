#pragma once

#include <cstdint>
#include <string>

namespace ouro::bench {

// Where and how the figures were measured; without it they mean nothing.
struct Machine {
    std::string cpu;
    unsigned cores = 0;
    std::uint64_t memory_bytes = 0;
    std::string kernel;
    std::string compiler;
    std::string build_type;
    std::string vector_extensions;
    std::uint64_t page_bytes = 0;
    std::string transparent_huge_pages;
    // UTC, e.g. "2026-01-31T12:00:00Z".
    std::string date;
    bool quick = false;
};

[[nodiscard]] Machine describe_machine(bool quick);

}  // namespace ouro::bench
