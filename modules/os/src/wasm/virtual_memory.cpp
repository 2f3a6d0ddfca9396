#include "host_calls.hpp"
#include "linear_memory.hpp"
#include "lock.hpp"
#include "page_range.hpp"
#include "page_states.hpp"

#include <ouro/os/virtual_memory.hpp>

#include <atomic>
#include <cstring>

namespace ouro::os {
namespace {

using wasm::PageOwner;
using wasm::PageRange;
using wasm::TakeOutcome;

// Held by every function that changes ranges or their states, so that a range cannot be released under a
// commit.
constinit wasm::Lock states_lock;
constinit PageStates states;

std::uint32_t page_number(const void* address) noexcept {
    return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(address) / wasm::kPageBytes);
}

std::uint32_t page_count(std::size_t bytes) noexcept {
    return static_cast<std::uint32_t>(bytes / wasm::kPageBytes);
}

PageRange pages_of_block(MemoryBlock block) noexcept {
    return {page_number(block.data), page_count(block.size)};
}

// Requires: the lock is held.
Status check_reserved(MemoryBlock block) noexcept {
    return wasm::owns_pages(PageOwner::os, pages_of_block(block)) ? Status::ok : Status::not_mapped;
}

// Requires: the lock is held.
Status check_committed(MemoryBlock block) noexcept {
    const Status reserved = check_reserved(block);
    if (reserved != Status::ok) return reserved;
    return states.are_committed(pages_of_block(block)) ? Status::ok : Status::not_mapped;
}

bool grow_memory(std::uint32_t end_page) noexcept {
    if (end_page <= wasm::grown_pages()) return true;
    return attempt(OsCall::grow_linear_memory, [&] { return wasm::grow_to(end_page); });
}

}  // namespace

std::size_t page_size() noexcept {
    return wasm::kPageBytes;
}

std::uint32_t committed_pages() noexcept {
    const wasm::LockGuard guard(states_lock);
    return states.committed_count();
}

Expected<MemoryBlock> reserve(const ReserveRequest& request) noexcept {
    const auto complete = complete_request(request);
    if (!complete) return complete.status();
    PageRange range;
    const TakeOutcome outcome = wasm::take_pages(PageOwner::os,
                                                 {.count = page_count(complete->bytes),
                                                  .alignment = page_count(complete->alignment),
                                                  .first = page_number(complete->address)},
                                                 range);
    switch (outcome) {
        case TakeOutcome::taken:
            return MemoryBlock{reinterpret_cast<std::byte*>(range.first * wasm::kPageBytes), complete->bytes};
        case TakeOutcome::in_use:
            return Status::address_in_use;
        case TakeOutcome::no_room:
            return Status::out_of_address_space;
        case TakeOutcome::table_full:
            return Status::too_many_mappings;
    }
    return Status::os_error;
}

Expected<void> release(MemoryBlock block) noexcept {
    const Status checked = check_pages(block);
    if (checked != Status::ok) return checked;
    const wasm::LockGuard guard(states_lock);
    switch (wasm::give_back_pages(PageOwner::os, pages_of_block(block))) {
        case wasm::GiveOutcome::not_taken:
            return Status::bad_address;
        case wasm::GiveOutcome::table_full:
            return Status::too_many_mappings;
        case wasm::GiveOutcome::given:
            break;
    }
    states.decommit(pages_of_block(block));
    return {};
}

Expected<void> commit(MemoryBlock block) noexcept {
    const Status checked = check_pages(block);
    if (checked != Status::ok) return checked;
    const wasm::LockGuard guard(states_lock);
    const Status reserved = check_reserved(block);
    if (reserved != Status::ok) return reserved;
    if (!grow_memory(pages_of_block(block).end())) return Status::out_of_memory;
    states.commit(pages_of_block(block));
    return {};
}

Expected<void> decommit(MemoryBlock block) noexcept {
    const Status checked = check_pages(block);
    if (checked != Status::ok) return checked;
    const wasm::LockGuard guard(states_lock);
    const Status reserved = check_reserved(block);
    if (reserved == Status::ok) states.decommit(pages_of_block(block));
    return reserved;
}

// The host takes no memory back; what is left of the promise is that the pages read zero.
Expected<void> discard(MemoryBlock block) noexcept {
    const Status checked = check_pages(block);
    if (checked != Status::ok) return checked;
    const wasm::LockGuard guard(states_lock);
    const Status committed = check_committed(block);
    if (committed == Status::ok) std::memset(block.data, 0, block.size);
    return committed;
}

Expected<void> protect(MemoryBlock block, Protection protection) noexcept {
    const Status checked = check_pages(block);
    if (checked != Status::ok) return checked;
    const wasm::LockGuard guard(states_lock);
    const Status committed = check_committed(block);
    if (committed != Status::ok) return committed;
    return protection == Protection::read_write ? Status::ok : Status::not_supported;
}

Expected<void> prefault(MemoryBlock block) noexcept {
    const Status checked = check_pages(block);
    if (checked != Status::ok) return checked;
    {
        const wasm::LockGuard guard(states_lock);
        const Status committed = check_committed(block);
        if (committed != Status::ok) return committed;
    }
    // The host's own pages, whose size a program cannot ask for, and which come into being when written.
    // Adding zero atomically is a write that changes nothing, whoever else writes meanwhile.
    constexpr std::size_t kSmallestHostPage = 4096;
    for (std::size_t offset = 0; offset < block.size; offset += kSmallestHostPage) {
        auto& first = *reinterpret_cast<unsigned char*>(block.data + offset);
        std::atomic_ref(first).fetch_add(0, std::memory_order_relaxed);
    }
    return {};
}

}  // namespace ouro::os
