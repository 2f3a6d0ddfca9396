#include "future_store.hpp"

#include "packed_store.hpp"

#include <ouro/base/assert.hpp>

namespace ouro::detail {

std::uint8_t FutureStore::begin(std::uint32_t fork_tick, std::uint32_t last_tick, std::uint32_t pages,
                                bool is_kept) noexcept {
    for (std::uint32_t number = 1; number <= kMaxFutures; ++number) {
        Future& future = futures_[number];
        if (future.is_used) continue;
        future.is_used = true;
        future.is_kept = is_kept;
        set(future.begin, end_);
        set(future.end, end_);
        set(future.fork_tick, fork_tick);
        set(future.last_tick, last_tick);
        set(future.pages, pages);
        set(future.has_packed, 0);
        set(future.whole_from, 0);
        set(future.thin_every, 1);
        future.generation.store(get(future.generation) + 1, std::memory_order_seq_cst);
        ++count_;
        return static_cast<std::uint8_t>(number);
    }
    return 0;
}

void FutureStore::add(std::uint8_t number, std::uint32_t page, Version version) noexcept {
    Future& future = futures_[number];
    OURO_ASSERT(get(future.end) == end_ && end_ < entries_.size(), "versions are added to the newest future");
    Entry& entry = entries_[end_++];
    set(entry.page, page);
    set(entry.tick, version.tick);
    set(entry.slot, version.slot);
    set(future.end, end_);
    if (is_packed(version.slot)) set(future.has_packed, 1);
}

std::uint32_t FutureStore::find(std::uint8_t number, std::uint32_t page, std::uint32_t tick) const noexcept {
    const Future& future = futures_[number];
    // The first entry behind (page, tick); the one before it is of the page, or there is none.
    std::uint32_t low = get(future.begin);
    std::uint32_t high = get(future.end);
    const std::uint32_t begin = low;
    if (high > entries_.size()) return kNone;
    while (low < high) {
        const std::uint32_t middle = low + (high - low) / 2;
        const Entry& entry = entries_[middle];
        const bool is_behind = get(entry.page) > page || (get(entry.page) == page && get(entry.tick) > tick);
        if (is_behind)
            high = middle;
        else
            low = middle + 1;
    }
    if (low == begin || get(entries_[low - 1].page) != page) return kNone;
    return get(entries_[low - 1].slot);
}

void FutureStore::close_gap(std::uint32_t begin, std::uint32_t end) noexcept {
    const std::uint32_t length = end - begin;
    if (length == 0) return;
    for (std::uint32_t index = end; index < end_; ++index)
        copy_entry(index, index - length);
    for (Future& future : futures_) {
        if (!future.is_used || get(future.begin) < end) continue;
        set(future.begin, get(future.begin) - length);
        set(future.end, get(future.end) - length);
    }
    end_ -= length;
}

void FutureStore::remove(std::uint8_t number) noexcept {
    Future& gone = futures_[number];
    const std::uint32_t begin = get(gone.begin);
    const std::uint32_t end = get(gone.end);
    make_stale(number);
    gone.is_used = false;
    gone.is_kept = false;
    --count_;
    close_gap(begin, end);
}

std::uint32_t FutureStore::kept_count() const noexcept {
    std::uint32_t count = 0;
    for (const Future& future : futures_)
        count += future.is_used && (future.is_kept || get(future.has_packed) != 0) ? 1U : 0U;
    return count;
}

void FutureStore::copy_entry(std::uint32_t from, std::uint32_t to) noexcept {
    set(entries_[to].page, get(entries_[from].page));
    set(entries_[to].tick, get(entries_[from].tick));
    set(entries_[to].slot, get(entries_[from].slot));
}

// Room for more entries at the future's end.
void FutureStore::open_gap(std::uint8_t number, std::uint32_t length) noexcept {
    const std::uint32_t end = get(futures_[number].end);
    for (std::uint32_t index = end_; index > end; --index)
        copy_entry(index - 1, index - 1 + length);
    for (Future& future : futures_) {
        if (!future.is_used || get(future.begin) < end || &future == &futures_[number]) continue;
        set(future.begin, get(future.begin) + length);
        set(future.end, get(future.end) + length);
    }
    end_ += length;
}

// The first so many entries of the one future go to the other, whose entries of the same pages are all newer.
// Behind all entries there is room to lay them aside: every page has two slots more than can be here.
void FutureStore::merge(std::uint8_t from, std::uint8_t into, std::uint32_t count) noexcept {
    const std::uint32_t aside = end_;
    OURO_ASSERT(aside + count <= entries_.size(), "there is room for one more version of each page");
    for (std::uint32_t index = 0; index < count; ++index)
        copy_entry(get(futures_[from].begin) + index, aside + index);
    remove(from);
    const std::uint32_t begin = get(futures_[into].begin);
    std::uint32_t own = get(futures_[into].end);
    open_gap(into, count);
    // From the end, so that nothing is written over before it was moved.
    std::uint32_t to = own + count;
    set(futures_[into].end, to);
    for (std::uint32_t left = count; left != 0;) {
        const std::uint32_t next = aside + left - 1;
        const bool is_own = own != begin && get(entries_[own - 1].page) >= get(entries_[next].page);
        copy_entry(is_own ? --own : next, --to);
        if (!is_own) --left;
    }
}

KeptFuture FutureStore::handle(std::uint8_t number) const noexcept {
    return {number, futures_[number].generation.load(std::memory_order_seq_cst)};
}

Expected<std::uint8_t> FutureStore::future_of(KeptFuture handle) const noexcept {
    if (handle.is_null() || handle.index() == 0 || handle.index() > kMaxFutures) return Status::stale_handle;
    const auto number = static_cast<std::uint32_t>(handle.index());
    const std::uint32_t generation = futures_[number].generation.load(std::memory_order_seq_cst);
    if (generation != handle.generation() || generation % 2 == 0) return Status::stale_handle;
    return static_cast<std::uint8_t>(number);
}

Expected<std::uint8_t> FutureStore::future_of(KeptFuture handle, std::uint64_t tick) const noexcept {
    const auto number = future_of(handle);
    if (!number) return number;
    const Future& future = futures_[*number];
    if (tick <= get(future.fork_tick) || tick > get(future.last_tick)) return Status::out_of_range;
    if (tick < get(future.whole_from) && tick % get(future.thin_every) != 0) return Status::tick_thinned;
    return number;
}

void FutureStore::make_stale(std::uint8_t number) noexcept {
    Word& generation = futures_[number].generation;
    if (get(generation) % 2 != 0) generation.store(get(generation) + 1, std::memory_order_seq_cst);
}

}  // namespace ouro::detail
