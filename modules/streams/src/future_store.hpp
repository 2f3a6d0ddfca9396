#pragma once

#include "carver.hpp"
#include "lease_table.hpp"
#include "version_index.hpp"

#include <ouro/base/expected.hpp>
#include <ouro/streams/kept_future.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <span>

namespace ouro::detail {

// The versions of ticks that were rolled back and are still read or kept. A future begins behind the tick at
// which it left the present timeline; what it did not change is read there, under the future's own lease.
//
// Changed by the thread that commits only, between the index's begin_change and end_change; read under the
// same protection.
class FutureStore {
public:
    // The number zero is the present timeline.
    static constexpr std::uint32_t kMaxFutures = LeaseTable::kMaxFutures;

    void carve(Carver& carver, std::uint64_t versions) noexcept { entries_ = carver.take<Entry>(versions); }

    // A new future, to which versions are added in the order of pages, then ticks; zero when there are too
    // many.
    [[nodiscard]] std::uint8_t begin(std::uint32_t fork_tick, std::uint32_t last_tick, std::uint32_t pages,
                                     bool is_kept) noexcept;
    // How many pages are not zero at its end.
    [[nodiscard]] std::uint32_t page_count(std::uint8_t future) const noexcept {
        return get(futures_[future].pages);
    }
    // Whether any of its versions is packed.
    [[nodiscard]] bool has_packed(std::uint8_t future) const noexcept {
        return get(futures_[future].has_packed) != 0;
    }
    void add(std::uint8_t future, std::uint32_t page, Version version) noexcept;

    // Of its ticks before this one only multiples of a number were kept.
    void set_thinned(std::uint8_t future, std::uint32_t before, std::uint32_t every) noexcept {
        set(futures_[future].whole_from, before);
        set(futures_[future].thin_every, every);
    }

    // The slot of the page at a tick of the future; kNone when it is as at the fork.
    static constexpr std::uint32_t kNone = ~std::uint32_t{0};
    [[nodiscard]] std::uint32_t find(std::uint8_t future, std::uint32_t page,
                                     std::uint32_t tick) const noexcept;

    [[nodiscard]] std::uint32_t first_tick(std::uint8_t future) const noexcept {
        return get(futures_[future].fork_tick) + 1;
    }

    // Takes away the versions of which `is_needed(page, from, until)` is false, and calls with the slot of
    // each; `until` is that of the page's next version, or the highest number. Requires: none is packed.
    template <class IsNeeded, class Give>
    void trim(std::uint8_t future, IsNeeded&& is_needed, Give&& give) noexcept {
        const std::uint32_t end = get(futures_[future].end);
        std::uint32_t kept = get(futures_[future].begin);
        for (std::uint32_t index = kept; index < end; ++index) {
            const Entry& own = entries_[index];
            const bool is_last = index + 1 == end || get(entries_[index + 1].page) != get(own.page);
            const std::uint32_t until = is_last ? UINT32_MAX : get(entries_[index + 1].tick);
            if (is_needed(get(own.page), get(own.tick), until))
                copy_entry(index, kept++);
            else
                give(get(own.slot));
        }
        set(futures_[future].end, kept);
        close_gap(kept, end);
    }
    // How many more versions there is room for.
    [[nodiscard]] std::uint32_t room() const noexcept {
        return static_cast<std::uint32_t>(entries_.size()) - end_;
    }

    // Calls with each slot, and takes the future away.
    template <class Give>
    void drop(std::uint8_t future, Give&& give) noexcept {
        const Future& own = futures_[future];
        for (std::uint32_t index = get(own.begin); index < get(own.end); ++index)
            give(get(entries_[index].slot));
        remove(future);
    }

    [[nodiscard]] bool exists(std::uint8_t future) const noexcept { return is_there(futures_[future]); }
    [[nodiscard]] bool is_kept(std::uint8_t future) const noexcept { return futures_[future].is_kept; }
    void set_kept(std::uint8_t future, bool is_kept) noexcept { futures_[future].is_kept = is_kept; }
    [[nodiscard]] std::uint32_t count() const noexcept { return count_; }
    [[nodiscard]] bool is_full() const noexcept { return count_ == kMaxFutures; }
    // How many are kept, or were and are still packed.
    [[nodiscard]] std::uint32_t kept_count() const noexcept;

    // What began from a tick of the first future and is all that it is there for takes over what it needs of
    // it, and the first one is gone. Calls with each slot that nobody needs any more. Requires: the first has
    // no packed versions.
    template <class Give>
    void join(std::uint8_t from, std::uint8_t into, std::uint32_t tick, Give&& give) noexcept {
        Future& own = futures_[from];
        std::uint32_t kept = get(own.begin);
        for (std::uint32_t index = get(own.begin); index < get(own.end); ++index) {
            if (is_base(index, get(own.end), tick) && !has_first(into, get(entries_[index].page)))
                copy_entry(index, kept++);
            else
                give(get(entries_[index].slot));
        }
        merge(from, into, kept - get(own.begin));
    }

    // For any thread.
    [[nodiscard]] KeptFuture handle(std::uint8_t future) const noexcept;
    // stale_handle, out_of_range when the future has no such tick, or tick_thinned.
    [[nodiscard]] Expected<std::uint8_t> future_of(KeptFuture handle, std::uint64_t tick) const noexcept;
    [[nodiscard]] Expected<std::uint8_t> future_of(KeptFuture handle) const noexcept;
    // The handles of this future are stale from now on.
    void make_stale(std::uint8_t future) noexcept;

    // Calls with each slot of every future: for check().
    template <class Visit>
    void visit_slots(Visit&& visit) const noexcept {
        for (std::uint32_t index = 0; index < end_; ++index)
            visit(get(entries_[index].slot));
    }

private:
    using Word = std::atomic<std::uint32_t>;

    struct Entry {
        Word page;
        Word tick;
        Word slot;
    };
    struct Future {
        Word begin = 0;
        Word end = 0;
        Word fork_tick = 0;
        Word last_tick = 0;
        Word pages = 0;
        Word has_packed = 0;
        Word whole_from = 0;
        Word thin_every = 1;
        // Odd while it exists and its handles are good.
        Word generation = 0;
        bool is_kept = false;
        bool is_used = false;
    };

    static std::uint32_t get(const Word& word) noexcept { return word.load(std::memory_order_relaxed); }
    static void set(Word& word, std::uint32_t value) noexcept {
        word.store(value, std::memory_order_relaxed);
    }
    [[nodiscard]] static bool is_there(const Future& future) noexcept { return future.is_used; }
    void remove(std::uint8_t future) noexcept;
    // Whether the entry is the last of its page at or before a tick, among those before `end`.
    [[nodiscard]] bool is_base(std::uint32_t index, std::uint32_t end, std::uint32_t tick) const noexcept {
        const Entry& own = entries_[index];
        if (get(own.tick) > tick) return false;
        if (index + 1 == end || get(entries_[index + 1].page) != get(own.page)) return true;
        return get(entries_[index + 1].tick) > tick;
    }
    // Whether the future has the page of its own from its first tick on.
    [[nodiscard]] bool has_first(std::uint8_t future, std::uint32_t page) const noexcept {
        return find(future, page, first_tick(future)) != kNone;
    }
    void copy_entry(std::uint32_t from, std::uint32_t to) noexcept;
    void merge(std::uint8_t from, std::uint8_t into, std::uint32_t count) noexcept;
    void open_gap(std::uint8_t future, std::uint32_t length) noexcept;
    // What is behind these entries, which belong to nobody, moves up.
    void close_gap(std::uint32_t begin, std::uint32_t end) noexcept;

    std::array<Future, kMaxFutures + 1> futures_{};
    std::span<Entry> entries_;
    std::uint32_t end_ = 0;
    std::uint32_t count_ = 0;
};

}  // namespace ouro::detail
