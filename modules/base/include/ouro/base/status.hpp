#pragma once

#include <cstdint>
#include <string_view>

namespace ouro {

// Why an operation did not happen. Every failure in the library is one of these values; none is an exception.
// The numbers are part of the ABI and of file formats: append, never renumber.
enum class Status : std::uint8_t {
    ok = 0,

    // The request itself is wrong; repeating it cannot help.
    zero_size = 1,
    size_overflow = 2,
    bad_alignment = 3,
    bad_address = 4,
    out_of_range = 5,
    bad_argument = 6,
    stale_handle = 7,
    dependency_cycle = 8,

    // The request is right, but there is not enough of something.
    out_of_memory = 20,
    out_of_address_space = 21,
    too_many_mappings = 22,
    too_many_threads = 23,
    too_many_files = 24,
    capacity_exhausted = 25,
    budget_exceeded = 26,
    rate_limited = 27,

    // The state of the thing asked does not allow it.
    not_mapped = 40,
    address_in_use = 41,
    already_tracked = 42,
    not_tracked = 43,
    not_found = 44,
    timed_out = 45,
    busy = 46,
    sealed = 47,
    cancelled = 48,
    tick_gone = 49,
    tick_thinned = 50,
    diverged = 51,

    // The platform does not do it here.
    not_supported = 60,
    permission_denied = 61,
    no_huge_pages = 62,
    no_such_node = 63,

    // Something outside the program failed.
    io_error = 80,
    corrupt_data = 81,
    os_error = 82,
    wrong_format = 83,
    wrong_layout = 84,
};

// Both texts end with a zero, so that C's functions can print them:
// std::printf("%s\n", status_text(status).data()).

// The name of the code as it is written in the enumeration, e.g. "out_of_memory".
[[nodiscard]] std::string_view status_name(Status status) noexcept;

// One sentence for people: what happened and, where there is something to do, what to do.
[[nodiscard]] std::string_view status_text(Status status) noexcept;

}  // namespace ouro
