#include <ouro/base/status.hpp>

#include <array>

namespace ouro {
namespace {

struct StatusWords {
    Status status;
    std::string_view name;
    std::string_view text;
};

constexpr auto kWordsOfRequests = std::to_array<StatusWords>({
    {Status::ok, "ok", "The operation succeeded."},
    {Status::zero_size, "zero_size", "The size is zero; ask for at least one byte."},
    {Status::size_overflow, "size_overflow",
     "The size is beyond what can be addressed here, or overflows when rounded or multiplied."},
    {Status::bad_alignment, "bad_alignment",
     "The alignment is no power of two that is accepted here, or the place is no multiple of the one "
     "needed."},
    {Status::bad_address, "bad_address", "The address is not on a page boundary, or not usable here."},
    {Status::out_of_range, "out_of_range",
     "The range reaches outside the object it should lie in, or the tick has not been yet."},
    {Status::bad_argument, "bad_argument", "An argument has a value that the operation does not accept."},
    {Status::stale_handle, "stale_handle",
     "The handle's object is gone; its slot may already hold another one."},
    {Status::dependency_cycle, "dependency_cycle",
     "Things wait for one another in a circle, so that none can begin; take one of the dependencies out."},
    {Status::out_of_memory, "out_of_memory", "The system refused the memory; free some or raise the limit."},
    {Status::out_of_address_space, "out_of_address_space",
     "No free range of addresses is that large; reserve less."},
    {Status::too_many_mappings, "too_many_mappings",
     "Too many mappings; use larger granules or raise vm.max_map_count."},
    {Status::too_many_threads, "too_many_threads",
     "The system refused another thread; use fewer or raise the limit."},
    {Status::too_many_files, "too_many_files", "No file descriptor is left; close some or raise the limit."},
    {Status::capacity_exhausted, "capacity_exhausted",
     "The fixed capacity is used up; use less, or choose a larger one at creation where there is a choice."},
    {Status::budget_exceeded, "budget_exceeded",
     "The bytes that were allowed for it do not suffice; free memory or allow more."},
    {Status::rate_limited, "rate_limited", "Too much was asked in too short a time; try again later."},
});

constexpr auto kWordsOfStates = std::to_array<StatusWords>({
    {Status::not_mapped, "not_mapped", "Part of the range is not mapped."},
    {Status::address_in_use, "address_in_use",
     "The place is taken, by a mapping or by another part of the same thing; choose another."},
    {Status::already_tracked, "already_tracked",
     "The range is already tracked, by this tracker or by another."},
    {Status::not_tracked, "not_tracked", "The range is not tracked; add it to the tracker first."},
    {Status::not_found, "not_found",
     "There is nothing of that name or at that place (a segment, a component, a world at this tick); what "
     "was "
     "made and rolled back again is to be made anew."},
    {Status::timed_out, "timed_out", "The time given ran out before it happened."},
    {Status::busy, "busy", "It is in use by another and cannot be waited for here."},
    {Status::sealed, "sealed", "Memory was sealed after warm-up; reserve enough before sealing."},
    {Status::cancelled, "cancelled", "Who was asked whether to go on said no; nothing has changed."},
    {Status::tick_gone, "tick_gone",
     "The tick is no longer in the history; keep more ticks, or give the history more bytes."},
    {Status::tick_thinned, "tick_thinned",
     "The tick was thinned out of the old history; go to a kept one before it and simulate from there."},
    {Status::diverged, "diverged", "Simulating again gave another state than the first time."},
    {Status::not_supported, "not_supported",
     "This platform or kernel does not offer it; `ouro doctor` says what it offers."},
    {Status::permission_denied, "permission_denied", "The system does not allow it to this process."},
    {Status::no_huge_pages, "no_huge_pages",
     "The system has no huge page free; raise vm.nr_hugepages, free memory, or use normal pages."},
    {Status::no_such_node, "no_such_node", "The machine has no memory node of that number."},
    {Status::io_error, "io_error", "Reading or writing failed in the system."},
    {Status::corrupt_data, "corrupt_data", "The data is damaged, truncated or not of the expected format."},
    {Status::os_error, "os_error", "The system failed in a way this library does not know."},
    {Status::wrong_format, "wrong_format",
     "This is no data of that kind, or of a version that is not known here; use the program that wrote it."},
    {Status::wrong_layout, "wrong_layout",
     "The data was laid out otherwise than here: other names, places or sizes."},
});

// A switch without default: the compiler names the code that was added without its words.
constexpr bool is_known(Status status) noexcept {
    switch (status) {
        case Status::ok:
        case Status::zero_size:
        case Status::size_overflow:
        case Status::bad_alignment:
        case Status::bad_address:
        case Status::out_of_range:
        case Status::bad_argument:
        case Status::stale_handle:
        case Status::dependency_cycle:
        case Status::out_of_memory:
        case Status::out_of_address_space:
        case Status::too_many_mappings:
        case Status::too_many_threads:
        case Status::too_many_files:
        case Status::capacity_exhausted:
        case Status::budget_exceeded:
        case Status::rate_limited:
        case Status::not_mapped:
        case Status::address_in_use:
        case Status::already_tracked:
        case Status::not_tracked:
        case Status::not_found:
        case Status::timed_out:
        case Status::busy:
        case Status::sealed:
        case Status::cancelled:
        case Status::tick_gone:
        case Status::tick_thinned:
        case Status::diverged:
        case Status::not_supported:
        case Status::permission_denied:
        case Status::no_huge_pages:
        case Status::no_such_node:
        case Status::io_error:
        case Status::corrupt_data:
        case Status::os_error:
        case Status::wrong_format:
        case Status::wrong_layout:
            return true;
    }
    return false;
}

constexpr const StatusWords* words_of(Status status) noexcept {
    for (const StatusWords& words : kWordsOfRequests)
        if (words.status == status) return &words;
    for (const StatusWords& words : kWordsOfStates)
        if (words.status == status) return &words;
    return nullptr;
}

constexpr bool every_code_has_words() noexcept {
    for (unsigned code = 0; code < 256; ++code) {
        const auto status = static_cast<Status>(code);
        if (is_known(status) != (words_of(status) != nullptr)) return false;
    }
    return true;
}
static_assert(every_code_has_words());

}  // namespace

std::string_view status_name(Status status) noexcept {
    const StatusWords* const words = words_of(status);
    return words != nullptr ? words->name : "unknown";
}

std::string_view status_text(Status status) noexcept {
    const StatusWords* const words = words_of(status);
    return words != nullptr ? words->text : "This is not a status code of this version.";
}

}  // namespace ouro
