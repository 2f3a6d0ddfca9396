#include "mapped_blocks.hpp"

#include <ouro/base/align.hpp>
#include <ouro/memory/detail/block_assert.hpp>
#include <ouro/os/remap.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <new>

namespace ouro::process_heap {
namespace {

// Lies right in front of the block. The seal is wrong for anything that is no such block.
struct alignas(16) Header {
    MemoryBlock mapping;
    std::uintptr_t seal;
    // The block came with its pages: the header has a page of its own, another mapping to the system.
    bool is_apart;
};

constexpr std::uintptr_t kSeal = 0x6f75'726f'6d61'7021;

constinit std::atomic<std::size_t> g_blocks = 0;
constinit std::atomic<std::size_t> g_bytes = 0;
constinit std::atomic<std::size_t> g_peak_bytes = 0;
constinit std::atomic<std::uint64_t> g_allocations = 0;

// The difference may be negative: it then wraps around and so does the sum.
void note_bytes(std::size_t difference) noexcept {
    const std::size_t bytes = g_bytes.fetch_add(difference, std::memory_order_relaxed) + difference;
    std::size_t peak = g_peak_bytes.load(std::memory_order_relaxed);
    while (peak < bytes && !g_peak_bytes.compare_exchange_weak(peak, bytes, std::memory_order_relaxed)) {
    }
}

Header& header_of(const void* block) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(block) - sizeof(Header);
    return *reinterpret_cast<Header*>(address);
}

Header& sealed_header_of(const void* block) noexcept {
    OURO_BLOCK_ASSERT(reinterpret_cast<std::uintptr_t>(block) % alignof(Header) == 0,
                      "free of what malloc did not return", "malloc", block);
    Header& header = header_of(block);
    OURO_BLOCK_ASSERT(header.seal == (reinterpret_cast<std::uintptr_t>(block) ^ kSeal),
                      "free of what malloc did not return, or of what was freed before", "malloc", block);
    return header;
}

void* seal_block(std::byte* block, MemoryBlock mapping, bool is_apart = false) noexcept {
    new (block - sizeof(Header)) Header{mapping, reinterpret_cast<std::uintptr_t>(block) ^ kSeal, is_apart};
    return block;
}

void note_new(MemoryBlock mapping) noexcept {
    g_blocks.fetch_add(1, std::memory_order_relaxed);
    g_allocations.fetch_add(1, std::memory_order_relaxed);
    note_bytes(mapping.size);
}

// What grows once grows on: addresses for a quarter more, whose pages take memory when they are written to,
// make the moves of its page tables few, however small the steps are.
Expected<std::size_t> with_room(std::size_t bytes) noexcept {
    return checked_add(bytes, align_up(bytes / 4, os::page_size()));
}

// Where there is no room, as much as is needed.
Expected<MemoryBlock> extend_with_room(MemoryBlock mapping, std::size_t bytes) noexcept {
    if (const auto roomy = with_room(bytes)) {
        const auto larger = os::move_and_extend(mapping, *roomy);
        if (larger) return larger;
    }
    return os::move_and_extend(mapping, bytes);
}

using Move = Expected<MemoryBlock> (*)(MemoryBlock pages, MemoryBlock room) noexcept;

// A page for the header and, behind it, room for so many bytes with the pages in front. The header is not
// written.
Expected<MemoryBlock> move_behind_header(MemoryBlock pages, std::size_t bytes, Move move) noexcept {
    const auto roomy = with_room(bytes);
    if (!roomy) return roomy.status();
    const std::size_t front = os::page_size();
    const auto mapping = os::reserve({.bytes = *roomy + front});
    if (!mapping) return mapping.status();
    const MemoryBlock page = mapping->sub(0, front);
    const auto committed = os::commit(page);
    const auto moved =
        committed ? move(pages, {page.end(), *roomy}) : Expected<MemoryBlock>(committed.status());
    if (moved) return mapping;
    static_cast<void>(os::release(committed ? page : *mapping));
    return moved.status();
}

// For a block with its header apart: it moves with every growth beyond its room.
Expected<MemoryBlock> extend_apart(MemoryBlock mapping, std::size_t bytes) noexcept {
    const std::size_t front = os::page_size();
    const auto larger =
        move_behind_header({mapping.data + front, mapping.size - front}, bytes - front, os::move_into);
    if (larger) static_cast<void>(os::release(mapping.sub(0, front)));
    return larger;
}

}  // namespace

void* map_block(std::size_t size, std::size_t alignment) noexcept {
    // Behind the header comes the block, aligned; in front of it, where a page is not aligned enough, the
    // rest.
    const auto room = checked_add(size, std::max(alignment, sizeof(Header)));
    const auto bytes = room ? checked_align_up(*room, os::page_size()) : room;
    if (!bytes) return nullptr;
    const auto mapping =
        os::reserve({.bytes = *bytes, .alignment = alignment > os::page_size() ? alignment : 0});
    if (!mapping) return nullptr;
    if (!os::commit(*mapping)) {
        static_cast<void>(os::release(*mapping));
        return nullptr;
    }
    note_new(*mapping);
    return seal_block(mapping->data + std::max(alignment, sizeof(Header)), *mapping);
}

void unmap_block(void* block) noexcept {
    Header& header = sealed_header_of(block);
    const MemoryBlock mapping = header.mapping;
    header.seal = 0;
    g_blocks.fetch_sub(1, std::memory_order_relaxed);
    note_bytes(std::size_t{0} - mapping.size);
    // At the limit of mappings one cannot be split: the addresses then stay, but not their memory.
    if (!os::release(mapping)) static_cast<void>(os::discard(mapping));
}

void* remap_block(void* block, std::size_t new_size) noexcept {
    Header& header = sealed_header_of(block);
    const MemoryBlock old = header.mapping;
    const bool is_apart = header.is_apart;
    const auto front = static_cast<std::size_t>(static_cast<std::byte*>(block) - old.data);
    const auto room = checked_add(new_size, front);
    const auto bytes = room ? checked_align_up(*room, os::page_size()) : room;
    if (!bytes) return nullptr;
    MemoryBlock mapping{old.data, *bytes};
    if (*bytes > old.size) {
        const auto larger = is_apart ? extend_apart(old, *bytes) : extend_with_room(old, *bytes);
        if (!larger) return nullptr;
        mapping = *larger;
    } else if (*bytes < old.size) {
        if (!os::release({old.data + *bytes, old.size - *bytes})) mapping = old;
    }
    note_bytes(mapping.size - old.size);
    return seal_block(mapping.data + front, mapping, is_apart);
}

void* map_pages(MemoryBlock memory, std::size_t size) noexcept {
    const auto bytes = checked_align_up(size, os::page_size());
    if (!bytes) return nullptr;
    const auto mapping = move_behind_header(memory, *bytes, os::move_pages_into);
    if (!mapping) return nullptr;
    note_new(*mapping);
    return seal_block(mapping->data + os::page_size(), *mapping, true);
}

std::size_t mapped_size(const void* block) noexcept {
    const MemoryBlock mapping = sealed_header_of(block).mapping;
    return mapping.size - static_cast<std::size_t>(static_cast<const std::byte*>(block) - mapping.data);
}

MappedTotals mapped_totals() noexcept {
    return {g_blocks.load(std::memory_order_relaxed), g_bytes.load(std::memory_order_relaxed),
            g_peak_bytes.load(std::memory_order_relaxed), g_allocations.load(std::memory_order_relaxed)};
}

}  // namespace ouro::process_heap
