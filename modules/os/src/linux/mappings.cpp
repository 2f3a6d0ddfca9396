#include "mappings.hpp"

#include "system_calls.hpp"
#include "text_file.hpp"

#include <cstdint>

#include <sys/mman.h>

namespace ouro::os {
namespace {

// Whether the process is at the kernel's limit of mappings, give or take those that the failed call would
// have made.
bool at_mapping_limit() noexcept {
    const auto limit = read_number("/proc/sys/vm/max_map_count");
    if (!limit) return false;
    std::uint64_t count = 0;
    const auto read = for_each_line(
        "/proc/self/maps",
        [](std::string_view, void* context) {
            ++*static_cast<std::uint64_t*>(context);
            return true;
        },
        &count);
    constexpr std::uint64_t kSplitsPerCall = 2;
    return read && count + kSplitsPerCall >= *limit;
}

}  // namespace

int native_protection(Protection protection) noexcept {
    switch (protection) {
        case Protection::none:
            return PROT_NONE;
        case Protection::read:
            return PROT_READ;
        case Protection::read_write:
            break;
    }
    return PROT_READ | PROT_WRITE;
}

bool is_mapped(MemoryBlock block) noexcept {
    // mincore fails with ENOMEM at the first unmapped page. It writes a byte a page, so large ranges go in
    // steps.
    constexpr std::size_t kPagesPerStep = 1024;
    unsigned char residency[kPagesPerStep];
    const std::size_t step_bytes = kPagesPerStep * page_size();
    for (std::size_t offset = 0; offset < block.size; offset += step_bytes) {
        const std::size_t bytes = block.size - offset < step_bytes ? block.size - offset : step_bytes;
        const int result =
            attempt(OsCall::query_mapping, [&] { return ::mincore(block.data + offset, bytes, residency); });
        if (result != 0) return false;
    }
    return true;
}

Status explain_no_memory(MemoryBlock block) noexcept {
    if (!is_mapped(block)) return Status::not_mapped;
    return at_mapping_limit() ? Status::too_many_mappings : Status::out_of_memory;
}

Status explain_no_addresses() noexcept {
    return at_mapping_limit() ? Status::too_many_mappings : Status::out_of_address_space;
}

Status make_reserved(MemoryBlock block) noexcept {
    constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
    const void* result = attempt(OsCall::map_memory, MAP_FAILED,
                                 [&] { return ::mmap(block.data, block.size, PROT_NONE, kFlags, -1, 0); });
    if (result != MAP_FAILED) return Status::ok;
    return errno == ENOMEM ? explain_no_memory(block) : status_of_error(errno);
}

Status unmap(MemoryBlock block) noexcept {
    if (attempt(OsCall::unmap_memory, [&] { return ::munmap(block.data, block.size); }) == 0)
        return Status::ok;
    return errno == ENOMEM ? Status::too_many_mappings : status_of_error(errno);
}

}  // namespace ouro::os
