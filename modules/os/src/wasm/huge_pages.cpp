#include "linear_memory.hpp"
#include "page_range.hpp"

#include <ouro/os/huge_pages.hpp>

#include <cstdint>

// The host alone decides which pages back the linear memory, and does not tell.
namespace ouro::os {
namespace {

Status check_reserved_pages(MemoryBlock block) noexcept {
    const Status checked = check_pages(block);
    if (checked != Status::ok) return checked;
    const auto first = reinterpret_cast<std::uintptr_t>(block.data) / wasm::kPageBytes;
    const wasm::PageRange pages{static_cast<std::uint32_t>(first),
                                static_cast<std::uint32_t>(block.size / wasm::kPageBytes)};
    return wasm::owns_pages(wasm::PageOwner::os, pages) ? Status::ok : Status::not_mapped;
}

}  // namespace

std::size_t huge_page_size() noexcept {
    return 0;
}

Expected<HugeBlock> allocate_huge(std::size_t bytes, PageKind asked) noexcept {
    const auto block = reserve({.bytes = bytes});
    if (!block) return block.status() == Status::too_many_mappings ? Status::out_of_memory : block.status();
    auto step = commit(*block);
    if (step) step = prefault(*block);
    if (!step) {
        [[maybe_unused]] const auto undone = release(*block);
        return step.status();
    }
    return HugeBlock{*block,
                     {.asked = asked,
                      .given = PageKind::normal,
                      .page_bytes = page_size(),
                      .reason = asked == PageKind::normal ? Status::ok : Status::not_supported}};
}

Expected<void> release_huge(const HugeBlock& block) noexcept {
    return release(block.block);
}

// Not wanting huge pages is granted: there are none.
Expected<void> advise_huge(MemoryBlock block, bool wanted) noexcept {
    const Status reserved = check_reserved_pages(block);
    if (reserved != Status::ok) return reserved;
    return wanted ? Status::not_supported : Status::ok;
}

Expected<std::size_t> huge_bytes_in(MemoryBlock block) noexcept {
    const Status checked = check_pages(block);
    if (checked != Status::ok) return checked;
    return std::size_t{0};
}

}  // namespace ouro::os
