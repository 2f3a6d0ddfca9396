#include <ouro/base/status.hpp>

namespace ouro {
namespace {

struct StatusWords {
    std::string_view name;
    std::string_view text;
};

// A switch without default: the compiler names the code that was added without its words.
constexpr StatusWords words_of(Status status) noexcept {
    switch (status) {
        case Status::ok:
            return {"ok", "The operation succeeded."};
        case Status::zero_size:
            return {"zero_size", "The size is zero; ask for at least one byte."};
        case Status::size_overflow:
            return {"size_overflow", "The size overflows when rounded or multiplied."};
        case Status::bad_alignment:
            return {"bad_alignment", "The alignment is not a power of two that this operation accepts."};
        case Status::bad_address:
            return {"bad_address", "The address is not on a page boundary, or not usable here."};
        case Status::out_of_range:
            return {"out_of_range", "The range reaches outside the object it should lie in."};
        case Status::bad_argument:
            return {"bad_argument", "An argument has a value that the operation does not accept."};
        case Status::stale_handle:
            return {"stale_handle", "The handle's object is gone; its slot may already hold another one."};
        case Status::out_of_memory:
            return {"out_of_memory", "The system refused the memory; free some or raise the limit."};
        case Status::out_of_address_space:
            return {"out_of_address_space", "No free range of addresses is that large; reserve less."};
        case Status::too_many_mappings:
            return {"too_many_mappings", "Too many mappings; use larger granules or raise vm.max_map_count."};
        case Status::too_many_threads:
            return {"too_many_threads", "The system refused another thread; use fewer or raise the limit."};
        case Status::too_many_files:
            return {"too_many_files", "No file descriptor is left; close some or raise the limit."};
        case Status::capacity_exhausted:
            return {"capacity_exhausted", "The fixed capacity is used up; choose a larger one at creation."};
        case Status::budget_exceeded:
            return {"budget_exceeded", "The budget does not allow it; free memory or raise the budget."};
        case Status::rate_limited:
            return {"rate_limited", "Too much was asked in too short a time; try again later."};
        case Status::not_mapped:
            return {"not_mapped", "Part of the range is not mapped."};
        case Status::address_in_use:
            return {"address_in_use", "Something is already mapped at the chosen address; choose another."};
        case Status::already_tracked:
            return {"already_tracked", "The range is already tracked, by this tracker or by another."};
        case Status::not_tracked:
            return {"not_tracked", "The range is not tracked; add it to the tracker first."};
        case Status::not_found:
            return {"not_found", "There is nothing of that name or at that place."};
        case Status::timed_out:
            return {"timed_out", "The time given ran out before it happened."};
        case Status::busy:
            return {"busy", "It is in use by another and cannot be waited for here."};
        case Status::sealed:
            return {"sealed", "Memory was sealed after warm-up; reserve enough before sealing."};
        case Status::not_supported:
            return {"not_supported",
                    "This platform or kernel does not offer it; `ouro doctor` says what it offers."};
        case Status::permission_denied:
            return {"permission_denied", "The system does not allow it to this process."};
        case Status::no_huge_pages:
            return {
                "no_huge_pages",
                "The system has no huge page free; raise vm.nr_hugepages, free memory, or use normal pages."};
        case Status::no_such_node:
            return {"no_such_node", "The machine has no memory node of that number."};
        case Status::io_error:
            return {"io_error", "Reading or writing failed in the system."};
        case Status::corrupt_data:
            return {"corrupt_data", "The data is damaged, truncated or not of the expected format."};
        case Status::os_error:
            return {"os_error", "The system failed in a way this library does not know."};
    }
    return {"unknown", "This is not a status code of this version."};
}

}  // namespace

std::string_view status_name(Status status) noexcept {
    return words_of(status).name;
}

std::string_view status_text(Status status) noexcept {
    return words_of(status).text;
}

}  // namespace ouro
