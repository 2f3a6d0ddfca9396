#include <ouro/observe/detail/observe_image.hpp>
#include <ouro/observe/ledger.hpp>
#include <ouro/os/other_process.hpp>
#include <ouro/os/process_memory.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace ouro {
namespace {

using detail::ObserveImage;

struct Count {
    const ObserveImage* image;
    std::size_t page;
    std::size_t bytes = 0;
};

// Others may be changing it: that is looked over, since all that is asked is whether there was ever anything.
// A volatile read, as ThreadSanitizer looks at atomic ones even here.
[[gnu::no_sanitize_thread]] bool holds_something(const volatile std::uint64_t* words,
                                                 std::size_t count) noexcept {
    for (std::size_t at = 0; at < count; ++at) {
        if (words[at] != 0) return true;
    }
    return false;
}

// A page that was only read shows the system's common page of zeroes and takes nothing.
void count_written_pages(std::size_t offset, std::size_t bytes, Count& count) noexcept {
    const std::size_t end = std::min(offset + bytes, sizeof(ObserveImage));
    const auto* const start = reinterpret_cast<const std::byte*>(count.image);
    for (; offset < end; offset += count.page) {
        const std::size_t words = std::min(count.page, end - offset) / sizeof(std::uint64_t);
        if (holds_something(reinterpret_cast<const std::uint64_t*>(start + offset), words))
            count.bytes += count.page;
    }
}

}  // namespace

ObserveCost observe_cost() noexcept {
    const ObserveImage* const image = detail::observe_image();
    if (image == nullptr) return {};
    Count count{.image = image, .page = os::page_size()};
    const std::size_t bytes = (sizeof(ObserveImage) + count.page - 1) / count.page * count.page;
    const auto visited = os::visit_used_pages(
        os::process_id(), reinterpret_cast<std::uintptr_t>(image), bytes,
        [](os::PageRun run, void* context) {
            count_written_pages(run.offset, run.bytes, *static_cast<Count*>(context));
            return true;
        },
        &count);
    // Where the system does not tell which were touched, all of them are looked at.
    if (!visited) count_written_pages(0, sizeof(ObserveImage), count);
    return {.reserved_bytes = sizeof(ObserveImage),
            .used_bytes = std::min(count.bytes, sizeof(ObserveImage))};
}

}  // namespace ouro
