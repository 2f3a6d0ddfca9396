#pragma once

#include "carver.hpp"

#include <ouro/base/status.hpp>
#include <ouro/streams/state_page.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <span>

namespace ouro::detail {

// Where a page was kept at some tick. Slot zero is the page of zeros that every fresh image is made of.
struct Version {
    std::uint32_t tick = 0;
    std::uint32_t slot = 0;
};

// The versions of every page by tick: short arrays, linked from the newest to the oldest, each with a second
// link that jumps back over ever more of them, so that any tick is found in logarithmic time.
//
// One thread changes the index; any number read it meanwhile. What only adds needs no care by readers; what
// takes away happens between begin_change() and end_change(), and a reader that met it finds out by
// is_unchanged() and looks again.
class VersionIndex {
public:
    using Word = std::atomic<std::uint32_t>;

    // A version with the tick of the next one, or zero, and where the index says where it is kept; null when
    // there is no version.
    struct Located {
        Version version;
        std::uint32_t until = 0;
        Word* slot = nullptr;
    };

    static constexpr std::uint32_t kBlockVersions = 12;
    // How many blocks are enough for so many versions of so many pages, however they are spread.
    [[nodiscard]] static constexpr std::uint64_t blocks_for(std::uint64_t versions,
                                                            std::uint64_t pages) noexcept {
        return versions / kBlockVersions + 2 * pages + versions / (8 * kBlockVersions) + 1;
    }

    void carve(Carver& carver, std::uint32_t pages, std::uint64_t versions) noexcept;

    // The newest version at or before the tick; slot zero when there is none.
    [[nodiscard]] Version find(std::uint32_t page, std::uint32_t tick) const noexcept;
    // The same, with what surrounds it. Looks from the newest on; `locate_old` from the oldest, where that is
    // nearer.
    [[nodiscard]] Located locate(std::uint32_t page, std::uint32_t tick) const noexcept {
        const Tail tail = tail_of(pages_[page]);
        return locate_in(tail, block_at_or_before(pages_[page], tail.last, tick), tick);
    }
    [[nodiscard]] Located locate_old(std::uint32_t page, std::uint32_t tick) const noexcept;
    // A version is kept elsewhere from now on, with the same bytes. The place stays good until the version is
    // taken away or compact() moves it. In one order for all threads with leases: see LeaseTable.
    static void move(Word& slot, std::uint32_t to) noexcept { slot.store(to, std::memory_order_seq_cst); }
    // Of the oldest version that the index knows; zero when there is none.
    [[nodiscard]] std::uint32_t first_tick(std::uint32_t page) const noexcept {
        return get(pages_[page].first) == 0 ? 0 : get(blocks_[get(pages_[page].first)].versions[0].tick);
    }
    void move_newest(std::uint32_t page, std::uint32_t to) noexcept;
    // The same for the newest version only as a version: its slot is about to be that of the next one.
    void hand_on_newest(std::uint32_t page, std::uint32_t to) noexcept;

    // The newest version of all; slot zero and tick zero when there is none.
    [[nodiscard]] Version newest(std::uint32_t page) const noexcept {
        return {get(newest_ticks_[page]), get(pages_[page].newest_slot)};
    }
    [[nodiscard]] std::uint32_t newest_tick(std::uint32_t page) const noexcept {
        return get(newest_ticks_[page]);
    }
    [[nodiscard]] std::uint32_t newest_slot(std::uint32_t page) const noexcept {
        return get(pages_[page].newest_slot);
    }

    // Adds a version that is newer than all others of the page, and now and then gives up blocks of those
    // that were superseded at or before the needed tick. False when there is no block left: compact(), then
    // again.
    [[nodiscard]] bool append(std::uint32_t page, Version version, std::uint32_t needed_tick) noexcept {
        return append_in_place(page, version) || start_block(page, version, needed_tick);
    }
    // The same as long as the page's last block has room; false when it has none. Touches nothing but what is
    // the page's own: several threads may do so for different pages at once.
    [[nodiscard]] bool append_in_place(std::uint32_t page, Version version) noexcept {
        const Tail tail = tail_of(pages_[page]);
        if (tail.last == 0 || tail.count == kBlockVersions) return false;
        put(blocks_[tail.last].versions[tail.count], version);
        finish_append(page, {tail.last, tail.count + 1}, version);
        return true;
    }

    // Brings what append() will look at into the cache: first this, a little later the other.
    void prefetch_page(std::uint32_t page) const noexcept {
        __builtin_prefetch(&pages_[page], 1);
        __builtin_prefetch(&newest_ticks_[page], 1);
    }
    void prefetch_append(std::uint32_t page) const noexcept {
        const Tail tail = tail_of(pages_[page]);
        __builtin_prefetch(&blocks_[tail.last].versions[tail.count % kBlockVersions], 1);
    }

    // The same for find() and truncate(): all of the last block.
    void prefetch_block(std::uint32_t page) const noexcept {
        const auto* last = reinterpret_cast<const std::byte*>(&blocks_[tail_of(pages_[page]).last]);
        __builtin_prefetch(last, 1);
        __builtin_prefetch(last + 64, 1);
    }

    // Takes away the versions of a page that are newer than the tick. Between begin_change and end_change.
    void truncate(std::uint32_t page, std::uint32_t tick) noexcept {
        truncate_at(page, tick, block_at_or_before(pages_[page], tail_of(pages_[page]).last, tick));
    }
    // The same where find_blocks() has found the page's block.
    void truncate_at(std::uint32_t page, std::uint32_t tick, std::uint32_t block) noexcept;
    // Of each page the block of its newest version at or before the tick, or zero: all of them in step, so
    // that what one waits for is fetched together with the others'. On the thread that changes the index.
    void find_blocks(std::span<const std::uint32_t> pages, std::uint32_t tick,
                     std::span<std::uint32_t> blocks) const noexcept;

    // Takes away, of all pages, the versions that nobody can read: those of which `is_needed(page, from,
    // until)` is false, where the next version is of tick `until`. The newest of a page always stays.
    template <class IsNeeded>
    void compact(IsNeeded&& is_needed) noexcept {
        begin_change();
        for (std::uint32_t page = 0; page < pages_.size(); ++page)
            compact_page(page, is_needed);
        end_change();
    }
    // The same for one page, between begin_change and end_change.
    template <class IsNeeded>
    void compact_page(std::uint32_t number, IsNeeded&& is_needed) noexcept;

    // Calls with each version of a page, oldest first, and the tick of the next; zero behind the last.
    template <class Visit>
    void visit(std::uint32_t page, Visit&& visit_version) const noexcept {
        visit_from(tail_of(pages_[page]), get(pages_[page].first), visit_version);
    }
    // Only with those newer than the tick.
    template <class Visit>
    void visit_behind(std::uint32_t page, std::uint32_t tick, Visit&& visit_version) const noexcept {
        const Tail tail = tail_of(pages_[page]);
        const std::uint32_t found = block_at_or_before(pages_[page], tail.last, tick);
        const std::uint32_t start = found == 0 ? get(pages_[page].first) : found;
        visit_from(tail, start, [&](Version version, std::uint32_t until) {
            if (version.tick > tick) visit_version(version, until);
        });
    }

    void begin_change() noexcept;
    void end_change() noexcept;
    // For readers: what to compare with afterwards. Odd while the index changes.
    [[nodiscard]] std::uint32_t state() const noexcept { return state_.load(std::memory_order_acquire); }
    [[nodiscard]] bool is_unchanged(std::uint32_t state) const noexcept {
        std::atomic_thread_fence(std::memory_order_acquire);
        return (state & 1) == 0 && state_.load(std::memory_order_relaxed) == state;
    }

    [[nodiscard]] std::uint32_t page_count() const noexcept {
        return static_cast<std::uint32_t>(pages_.size());
    }
    [[nodiscard]] std::uint32_t free_blocks() const noexcept {
        return free_count_ + static_cast<std::uint32_t>(blocks_.size()) - fresh_;
    }
    // Walks every chain: ok, or corrupt_data.
    [[nodiscard]] Status check() const noexcept;

private:
    struct Place {
        Word tick;
        Word slot;
    };
    // What a commit needs of other blocks is noted here too: they are out of the caches by then. All blocks
    // of a page but the last are full.
    struct alignas(128) Block {
        Word previous;
        Word next;
        // The first tick of the next block.
        Word next_tick;
        Word depth;
        Word jump;
        Word jump_depth;
        // Where the block at the end of the jump jumps to.
        Word over;
        Word over_depth;
        std::array<Place, kBlockVersions> versions;
    };
    static_assert(sizeof(Block) == 128);

    // The last block and how many versions it has, in one word: who reads while one is added sees both of
    // before or both of after.
    struct Tail {
        std::uint32_t last = 0;
        std::uint32_t count = 0;
    };
    static constexpr unsigned kCountBits = 4;
    static_assert(kBlockVersions < 1U << kCountBits);

    // Zero names no block: the first is never used.
    struct alignas(16) Page {
        Word newest_slot;
        Word tail;
        Word first;
        Word first_depth;
    };

    static Tail tail_of(const Page& page) noexcept {
        const std::uint32_t word = page.tail.load(std::memory_order_acquire);
        return {word >> kCountBits, word & ((1U << kCountBits) - 1)};
    }
    static std::uint32_t count_in(const Tail& tail, std::uint32_t block) noexcept {
        return block == tail.last ? tail.count : kBlockVersions;
    }
    static void put(Place& place, Version version) noexcept {
        set(place.tick, version.tick);
        set(place.slot, version.slot);
    }
    // The tick before the slot: a reader of an older one that sees the slot sees that it is not for it.
    void finish_append(std::uint32_t page, Tail tail, Version version) noexcept {
        pages_[page].tail.store(tail.last << kCountBits | tail.count, std::memory_order_release);
        set(newest_ticks_[page], version.tick);
        pages_[page].newest_slot.store(version.slot, std::memory_order_release);
    }
    static std::uint32_t get(const Word& word) noexcept { return word.load(std::memory_order_relaxed); }
    static void set(Word& word, std::uint32_t value) noexcept {
        word.store(value, std::memory_order_relaxed);
    }

    [[nodiscard]] std::uint32_t block_at_or_before(const Page& page, std::uint32_t last,
                                                   std::uint32_t tick) const noexcept;
    [[nodiscard]] std::uint32_t step_back(const Page& page, const Block& block,
                                          std::uint32_t tick) const noexcept;
    [[nodiscard]] std::uint32_t take_block() noexcept;
    void give_block(std::uint32_t block) noexcept;
    bool start_block(std::uint32_t page, Version version, std::uint32_t needed_tick) noexcept;
    void link_back(Block& block, std::uint32_t previous, std::uint32_t first_depth) noexcept;
    [[nodiscard]] std::uint32_t reuse_first(Page& page, std::uint32_t needed_tick) noexcept;
    // What is behind the block is free, and the block is the last, with so many versions.
    void cut_behind(std::uint32_t number, Tail tail) noexcept;
    [[nodiscard]] bool is_sound(std::uint32_t number) const noexcept;

    template <class Visit>
    void visit_from(Tail tail, std::uint32_t start, Visit&& visit_version) const noexcept {
        for (std::uint32_t number = start; number != 0; number = get(blocks_[number].next)) {
            const Block& block = blocks_[number];
            const std::uint32_t next = get(block.next);
            const std::uint32_t count = count_in(tail, number);
            for (std::uint32_t index = 0; index < count; ++index) {
                const std::uint32_t behind = next == 0 ? 0 : get(blocks_[next].versions[0].tick);
                visit_version(Version{get(block.versions[index].tick), get(block.versions[index].slot)},
                              index + 1 < count ? get(block.versions[index + 1].tick) : behind);
            }
        }
    }

    [[nodiscard]] Located locate_in(Tail tail, std::uint32_t number, std::uint32_t tick) const noexcept;

    std::span<Block> blocks_;
    std::span<Page> pages_;
    // Apart, for whoever looks through all of them.
    std::span<Word> newest_ticks_;
    std::uint32_t free_head_ = 0;
    std::uint32_t free_count_ = 0;
    std::uint32_t fresh_ = 1;
    Word state_ = 0;
};

template <class IsNeeded>
void VersionIndex::compact_page(std::uint32_t number, IsNeeded&& is_needed) noexcept {
    Page& page = pages_[number];
    if (get(page.first) == 0) return;
    const Tail tail = tail_of(page);
    // Whatever stays moves towards the front of the same chain.
    std::uint32_t to = get(page.first);
    std::uint32_t kept = 0;
    visit_from(tail, to, [&](Version version, std::uint32_t until) {
        if (until != 0 && !is_needed(number, version.tick, until)) return;
        if (kept == kBlockVersions) {
            set(blocks_[to].next_tick, version.tick);
            to = get(blocks_[to].next);
            kept = 0;
        }
        put(blocks_[to].versions[kept++], version);
    });
    cut_behind(number, {to, kept});
}

}  // namespace ouro::detail
