#include "unpacked_pages.hpp"

#include <ouro/os/give_way.hpp>

#include <bit>

namespace ouro::detail {

void UnpackedPages::carve(Carver& carver, std::uint32_t places) noexcept {
    nodes_ = carver.take<Node>(places == 0 ? 0 : std::uint64_t{places} + 1);
    lists_ = carver.take<Word>(places == 0 ? 0 : std::bit_ceil(std::uint64_t{places}));
    pages_ = carver.take<std::byte>(std::uint64_t{places} * kStatePageBytes, kStatePageBytes).data();
    if (nodes_.empty()) return;
    for (std::uint32_t place = 1; place < places; ++place)
        nodes_[place].next_own.store(place + 1, std::memory_order_relaxed);
    free_.store(1, std::memory_order_relaxed);
}

UnpackedPages::Word& UnpackedPages::list_of(std::uint32_t cell, std::uint32_t page) noexcept {
    constexpr std::uint32_t kSpread = 0x9e3779b1;
    const std::uint32_t mixed = (page * LeaseTable::kReaderCells + cell) * kSpread;
    return lists_[(mixed ^ mixed >> 15) & (lists_.size() - 1)];
}

std::uint32_t UnpackedPages::lock(Word& list) noexcept {
    for (os::GiveWay way;; way.once()) {
        std::uint32_t first = list.load(std::memory_order_relaxed);
        if ((first & kLocked) == 0 &&
            list.compare_exchange_weak(first, first | kLocked, std::memory_order_acquire,
                                       std::memory_order_relaxed))
            return first;
    }
}

std::uint32_t UnpackedPages::find_in(std::uint32_t first, std::uint32_t cell,
                                     std::uint32_t page) const noexcept {
    while (first != 0 && (nodes_[first].page != page || nodes_[first].cell != cell))
        first = nodes_[first].next;
    return first;
}

const std::byte* UnpackedPages::find(std::uint32_t cell, std::uint32_t page) noexcept {
    if (!has_any(cell)) return nullptr;
    Word& list = list_of(cell, page);
    const std::uint32_t first = lock(list);
    const std::uint32_t found = find_in(first, cell, page);
    unlock(list, first);
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
    Word& list = list_of(cell, page);
    const std::uint32_t first = lock(list);
    if (const std::uint32_t found = find_in(first, cell, page); found != 0) {
        unlock(list, first);
        give(place);
        return bytes(found);
    }
    Node& node = nodes_[place];
    node.page = page;
    node.cell = cell;
    node.next = first;
    unlock(list, place);
    std::uint32_t head = first_[cell].load(std::memory_order_relaxed);
    do {
        node.next_own.store(head, std::memory_order_relaxed);
    } while (!first_[cell].compare_exchange_weak(head, place, std::memory_order_release,
                                                 std::memory_order_relaxed));
    return bytes(place);
}

void UnpackedPages::remove(std::uint32_t place) noexcept {
    Word& list = list_of(nodes_[place].cell, nodes_[place].page);
    std::uint32_t first = lock(list);
    if (first == place) {
        first = nodes_[place].next;
    } else {
        std::uint32_t before = first;
        while (nodes_[before].next != place)
            before = nodes_[before].next;
        nodes_[before].next = nodes_[place].next;
    }
    unlock(list, first);
}

void UnpackedPages::end(std::uint32_t cell) noexcept {
    std::uint32_t place = first_[cell].exchange(0, std::memory_order_acquire);
    while (place != 0) {
        const std::uint32_t next = nodes_[place].next_own.load(std::memory_order_relaxed);
        remove(place);
        give(place);
        place = next;
    }
}

}  // namespace ouro::detail
