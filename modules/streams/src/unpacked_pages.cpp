#include "unpacked_pages.hpp"

#include <bit>

namespace ouro::detail {

void UnpackedPages::carve(Carver& carver, std::uint32_t places) noexcept {
    cell_lists_ = places == 0 ? 0 : std::bit_ceil(places / kListLength + 1);
    nodes_ = carver.take<Node>(places == 0 ? 0 : std::uint64_t{places} + 1);
    lists_ = carver.take<Word>(std::uint64_t{cell_lists_} * LeaseTable::kReaderCells);
    pages_ = carver.take<std::byte>(std::uint64_t{places} * kStatePageBytes, kStatePageBytes).data();
    if (nodes_.empty()) return;
    for (std::uint32_t place = 1; place < places; ++place)
        nodes_[place].next_own.store(place + 1, std::memory_order_relaxed);
    free_.store(1, std::memory_order_relaxed);
}

UnpackedPages::Word& UnpackedPages::list_of(std::uint32_t cell, std::uint32_t page) const noexcept {
    constexpr std::uint32_t kSpread = 0x9e3779b1;
    const std::uint32_t mixed = page * kSpread;
    return lists_[std::size_t{cell} * cell_lists_ + ((mixed ^ mixed >> 15) & (cell_lists_ - 1))];
}

std::uint32_t UnpackedPages::find_in(std::uint32_t first, std::uint32_t end,
                                     std::uint32_t page) const noexcept {
    while (first != end && nodes_[first].page != page)
        first = nodes_[first].next;
    return first == end ? 0 : first;
}

const std::byte* UnpackedPages::find(std::uint32_t cell, std::uint32_t page) const noexcept {
    if (!has_any(cell)) return nullptr;
    const std::uint32_t found = find_in(list_of(cell, page).load(std::memory_order_acquire), 0, page);
    return found == 0 ? nullptr : bytes(found);
}

std::uint32_t UnpackedPages::take() noexcept {
    std::uint64_t head = free_.load(std::memory_order_acquire);
    for (;;) {
        const auto place = static_cast<std::uint32_t>(head);
        if (place == 0) return 0;
        const std::uint64_t count = (head >> 32) + 1;
        const std::uint64_t next = nodes_[place].next_own.load(std::memory_order_relaxed);
        if (free_.compare_exchange_weak(head, count << 32 | next, std::memory_order_acq_rel,
                                        std::memory_order_acquire))
            return place;
    }
}

void UnpackedPages::give(std::uint32_t place) noexcept {
    std::uint64_t head = free_.load(std::memory_order_relaxed);
    std::uint64_t changed = 0;
    do {
        nodes_[place].next_own.store(static_cast<std::uint32_t>(head), std::memory_order_relaxed);
        changed = ((head >> 32) + 1) << 32 | place;
    } while (
        !free_.compare_exchange_weak(head, changed, std::memory_order_acq_rel, std::memory_order_relaxed));
}

const std::byte* UnpackedPages::add(std::uint32_t cell, std::uint32_t page, std::uint32_t place) noexcept {
    has_any_[cell].store(true, std::memory_order_relaxed);
    Word& list = list_of(cell, page);
    Node& node = nodes_[place];
    node.page = page;
    std::uint32_t first = list.load(std::memory_order_acquire);
    std::uint32_t seen = 0;
    do {
        if (const std::uint32_t found = find_in(first, seen, page); found != 0) {
            give(place);
            return bytes(found);
        }
        seen = first;
        node.next = first;
    } while (!list.compare_exchange_weak(first, place, std::memory_order_acq_rel, std::memory_order_acquire));
    std::uint32_t head = first_[cell].load(std::memory_order_relaxed);
    do {
        node.next_own.store(head, std::memory_order_relaxed);
    } while (!first_[cell].compare_exchange_weak(head, place, std::memory_order_release,
                                                 std::memory_order_relaxed));
    return bytes(place);
}

void UnpackedPages::end(std::uint32_t cell) noexcept {
    has_any_[cell].store(false, std::memory_order_relaxed);
    std::uint32_t place = first_[cell].exchange(0, std::memory_order_acquire);
    while (place != 0) {
        const std::uint32_t next = nodes_[place].next_own.load(std::memory_order_relaxed);
        list_of(cell, nodes_[place].page).store(0, std::memory_order_relaxed);
        give(place);
        place = next;
    }
}

}  // namespace ouro::detail
