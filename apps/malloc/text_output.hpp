#pragma once

#include <cstddef>
#include <cstdint>

// Text to standard error without a heap.
namespace ouro::process_heap {

void write_error(const char* text) noexcept;
void write_error(const char* text, std::size_t length) noexcept;
void write_error_number(std::uint64_t number) noexcept;

}  // namespace ouro::process_heap
