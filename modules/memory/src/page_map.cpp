#include <ouro/base/align.hpp>
#include <ouro/base/bits.hpp>
#include <ouro/memory/detail/page_map.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <atomic>
#include <bit>
#include <utility>

namespace ouro::detail {
namespace {

// What the system hands out to a program that asks for no particular address.
constexpr unsigned kAddressBits = sizeof(void*) == 8 ? 47 : 32;
constexpr std::uint64_t kAddressEnd = std::uint64_t{1} << kAddressBits;
constexpr std::size_t kWordBits = 64;

std::uint64_t address_of(const void* pointer) noexcept {
    return reinterpret_cast<std::uintptr_t>(pointer);
}

std::size_t page_number(const void* address) noexcept {
    return static_cast<std::size_t>(address_of(address) / os::page_size());
}

std::size_t leaf_bytes() noexcept {
    return align_up(static_cast<std::size_t>(kAddressEnd / os::page_size() / 8), os::page_size());
}

std::size_t words_in_page() noexcept {
    return os::page_size() / sizeof(std::uint64_t);
}

std::uint64_t read(std::uint64_t& word, std::memory_order order = std::memory_order_relaxed) noexcept {
    return std::atomic_ref(word).load(order);
}

// One thread changes the map at a time, so that reading and writing need not be one step.
void set_bits_in(std::uint64_t& word, std::uint64_t mask, bool value) noexcept {
    const std::uint64_t old = read(word);
    std::atomic_ref(word).store(value ? old | mask : old & ~mask, std::memory_order_release);
}

// The bits of a word that lie in [first, end), counted from the word's first.
std::uint64_t mask_of(std::size_t word, std::size_t first, std::size_t end) noexcept {
    const std::size_t start = word * kWordBits;
    const auto from = static_cast<unsigned>(first > start ? first - start : 0);
    const auto to = static_cast<unsigned>(end - start < kWordBits ? end - start : kWordBits);
    return low_mask<std::uint64_t>(to) & ~low_mask<std::uint64_t>(from);
}

}  // namespace

Expected<PageMap> PageMap::create() noexcept {
    const std::size_t directory_bits = leaf_bytes() / os::page_size();
    const std::size_t directory_bytes =
        align_up(words_for_bits(directory_bits) * sizeof(std::uint64_t), os::page_size());
    auto memory = os::Reservation::create({.bytes = directory_bytes + leaf_bytes()});
    if (!memory) return memory.status();
    const auto committed = memory->commit(0, directory_bytes);
    if (!committed) return committed.status();
    return PageMap(*std::move(memory), directory_bytes);
}

PageMap::PageMap(os::Reservation memory, std::size_t leaf_offset) noexcept
    : memory_(std::move(memory)), leaf_offset_(leaf_offset) {}

std::uint64_t* PageMap::directory() const noexcept {
    return reinterpret_cast<std::uint64_t*>(memory_.block().data);
}

std::uint64_t* PageMap::leaf() const noexcept {
    return reinterpret_cast<std::uint64_t*>(memory_.block().data + leaf_offset_);
}

bool PageMap::is_committed(std::size_t leaf_page) const noexcept {
    return (read(directory()[leaf_page / kWordBits], std::memory_order_acquire) >> leaf_page % kWordBits &
            1U) != 0;
}

Expected<void> PageMap::commit_leaf(std::size_t first_word, std::size_t last_word) noexcept {
    const std::size_t last_page = last_word / words_in_page();
    for (std::size_t page = first_word / words_in_page(); page <= last_page; ++page) {
        if (is_committed(page)) continue;
        const auto committed = memory_.commit(leaf_offset_ + page * os::page_size(), os::page_size());
        if (!committed) return committed;
        set_bits_in(directory()[page / kWordBits], std::uint64_t{1} << page % kWordBits, true);
    }
    return {};
}

Expected<void> PageMap::add(MemoryBlock pages) noexcept {
    OURO_ASSERT(address_of(pages.end()) <= kAddressEnd,
                "the system gave addresses that the map has no room for");
    const std::size_t first = page_number(pages.data);
    const std::size_t last = first + pages.size / os::page_size() - 1;
    const auto committed = commit_leaf(first / kWordBits, last / kWordBits);
    if (!committed) return committed;
    write(pages, true);
    return {};
}

void PageMap::remove(MemoryBlock pages) noexcept {
    write(pages, false);
}

void PageMap::write(MemoryBlock pages, bool value) noexcept {
    const std::size_t first = page_number(pages.data);
    const std::size_t end = first + pages.size / os::page_size();
    for (std::size_t word = first / kWordBits; word * kWordBits < end; ++word)
        set_bits_in(leaf()[word], mask_of(word, first, end), value);
}

bool PageMap::contains(const void* address) const noexcept {
    if (address_of(address) >= kAddressEnd || memory_.block().is_null()) return false;
    const std::size_t page = page_number(address);
    const std::size_t word = page / kWordBits;
    if (!is_committed(word / words_in_page())) return false;
    return (read(leaf()[word], std::memory_order_acquire) >> page % kWordBits & 1U) != 0;
}

bool PageMap::contains_all(MemoryBlock pages) const noexcept {
    for (std::size_t offset = 0; offset < pages.size; offset += os::page_size()) {
        if (!contains(pages.data + offset)) return false;
    }
    return true;
}

std::size_t PageMap::page_count() const noexcept {
    std::size_t count = 0;
    const std::size_t leaf_pages = memory_.block().is_null() ? 0 : leaf_bytes() / os::page_size();
    for (std::size_t page = 0; page < leaf_pages; ++page) {
        // Most of the directory is empty: skip whole words of it.
        if (page % kWordBits == 0 && read(directory()[page / kWordBits]) == 0) {
            page += kWordBits - 1;
            continue;
        }
        if (!is_committed(page)) continue;
        for (std::size_t word = page * words_in_page(); word < (page + 1) * words_in_page(); ++word)
            count += static_cast<std::size_t>(std::popcount(read(leaf()[word])));
    }
    return count;
}

}  // namespace ouro::detail
