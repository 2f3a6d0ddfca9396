#include "linear_memory.hpp"

#include "host.hpp"
#include "lock.hpp"

#include <atomic>
#include <cstring>

// The linker's mark: the end of the program's data, with the main stack below it.
extern "C" unsigned char __heap_base;

namespace ouro::wasm {
namespace {

struct TakenRange {
    PageRange pages;
    PageOwner owner;
};

// All of this is used before the static constructors have run, by those of other files.
//
// Sorted by address. What is free is not stored: it is what lies between, so that neighbours given back are
// one gap without further ado.
constinit Lock table_lock;
constinit TakenRange table[kMaxRanges]{};
constinit std::size_t table_size = 0;

// Zero until first asked. Our own count, because memory.size may lag behind what another thread has grown.
constinit std::atomic<std::uint32_t> grown{0};
constinit std::atomic<std::uint32_t> maximum{0};

constexpr std::uint32_t align_up(std::uint32_t page, std::uint32_t alignment) noexcept {
    return (page + alignment - 1) & ~(alignment - 1);
}

// The first range of the table that ends behind the page, or the table's size.
std::size_t index_behind(std::uint32_t page) noexcept {
    std::size_t low = 0;
    std::size_t high = table_size;
    while (low < high) {
        const std::size_t middle = (low + high) / 2;
        if (table[middle].pages.end() > page) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

void insert(std::size_t index, const TakenRange& range) noexcept {
    std::memmove(&table[index + 1], &table[index], (table_size - index) * sizeof(TakenRange));
    table[index] = range;
    ++table_size;
}

TakeOutcome find_any(const PageRequest& request, std::size_t& index, std::uint32_t& first) noexcept {
    std::uint32_t gap = first_page();
    for (index = 0; index <= table_size; ++index) {
        const std::uint32_t gap_end = index < table_size ? table[index].pages.first : maximum_pages();
        first = align_up(gap, request.alignment);
        if (first < gap_end && gap_end - first >= request.count) return TakeOutcome::taken;
        if (index < table_size) gap = table[index].pages.end();
    }
    return TakeOutcome::no_room;
}

TakeOutcome find_exact(const PageRequest& request, std::size_t& index) noexcept {
    if (request.first < first_page()) return TakeOutcome::in_use;
    const std::uint32_t end = request.first + request.count;
    index = index_behind(request.first);
    if (index < table_size && table[index].pages.first < end) return TakeOutcome::in_use;
    return end <= maximum_pages() ? TakeOutcome::taken : TakeOutcome::no_room;
}

}  // namespace

TakeOutcome take_pages(PageOwner owner, const PageRequest& request, PageRange& taken) noexcept {
    if (request.count > kAddressablePages) return TakeOutcome::no_room;
    const LockGuard guard(table_lock);
    std::size_t index = 0;
    std::uint32_t first = request.first;
    const TakeOutcome outcome = first != 0 ? find_exact(request, index) : find_any(request, index, first);
    if (outcome != TakeOutcome::taken) return outcome;
    if (table_size == kMaxRanges) return TakeOutcome::table_full;
    taken = {first, request.count};
    insert(index, {taken, owner});
    return TakeOutcome::taken;
}

GiveOutcome give_back_pages(PageOwner owner, PageRange range) noexcept {
    const LockGuard guard(table_lock);
    const std::size_t index = index_behind(range.first);
    if (index == table_size || range.count == 0) return GiveOutcome::not_taken;
    TakenRange& found = table[index];
    const PageRange all = found.pages;
    if (found.owner != owner || range.first < all.first || range.end() > all.end())
        return GiveOutcome::not_taken;
    const PageRange before{all.first, range.first - all.first};
    const PageRange behind{range.end(), all.end() - range.end()};
    if (before.count == 0 && behind.count == 0) {
        --table_size;
        std::memmove(&table[index], &table[index + 1], (table_size - index) * sizeof(TakenRange));
        return GiveOutcome::given;
    }
    if (before.count != 0 && behind.count != 0) {
        if (table_size == kMaxRanges) return GiveOutcome::table_full;
        insert(index + 1, {behind, owner});
    }
    table[index].pages = before.count != 0 ? before : behind;
    return GiveOutcome::given;
}

bool owns_pages(PageOwner owner, PageRange pages) noexcept {
    const LockGuard guard(table_lock);
    const std::size_t index = index_behind(pages.first);
    if (index == table_size) return false;
    const TakenRange& found = table[index];
    return found.owner == owner && found.pages.first <= pages.first && pages.end() <= found.pages.end();
}

std::uint32_t pages_of(PageOwner owner) noexcept {
    const LockGuard guard(table_lock);
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < table_size; ++i)
        sum += table[i].owner == owner ? table[i].pages.count : 0;
    return sum;
}

bool grow_to(std::uint32_t end_page) noexcept {
    if (end_page > maximum_pages()) return false;
    if (end_page <= grown_pages()) return true;
    const LockGuard guard(table_lock);
    const std::uint32_t now = grown_pages();
    if (end_page <= now) return true;
    const std::size_t before = __builtin_wasm_memory_grow(0, end_page - now);
    if (before == SIZE_MAX) return false;
    grown.store(static_cast<std::uint32_t>(before) + (end_page - now), std::memory_order_release);
    return true;
}

std::uint32_t grown_pages() noexcept {
    const std::uint32_t known = grown.load(std::memory_order_acquire);
    if (known != 0) return known;
    // Nobody has grown the memory yet, so that every thread reads the same.
    std::uint32_t nothing = 0;
    const auto size = static_cast<std::uint32_t>(__builtin_wasm_memory_size(0));
    return grown.compare_exchange_strong(nothing, size) ? size : nothing;
}

std::uint32_t maximum_pages() noexcept {
    std::uint32_t known = maximum.load(std::memory_order_relaxed);
    if (known == 0) {
        known = wasm_host::maximum_pages();
        if (known > kAddressablePages) known = kAddressablePages;
        maximum.store(known, std::memory_order_relaxed);
    }
    return known;
}

std::uint32_t first_page() noexcept {
    const auto data_end = reinterpret_cast<std::uintptr_t>(&__heap_base);
    return static_cast<std::uint32_t>((data_end + kPageBytes - 1) / kPageBytes);
}

}  // namespace ouro::wasm
