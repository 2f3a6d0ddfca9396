#include "version_index.hpp"

#include <ouro/base/assert.hpp>

namespace ouro::detail {

void VersionIndex::carve(Carver& carver, std::uint32_t pages, std::uint64_t versions) noexcept {
    blocks_ = carver.take<Block>(blocks_for(versions, pages) + 1);
    OURO_ASSERT(blocks_.size() < std::size_t{1} << (32 - kCountBits),
                "a block's number and a count fit a word");
    pages_ = carver.take<Page>(pages);
    newest_ticks_ = carver.take<Word>(pages);
}

std::uint32_t VersionIndex::take_block() noexcept {
    if (free_head_ != 0) {
        const std::uint32_t block = free_head_;
        free_head_ = get(blocks_[block].next);
        --free_count_;
        return block;
    }
    return fresh_ < blocks_.size() ? fresh_++ : 0;
}

void VersionIndex::give_block(std::uint32_t block) noexcept {
    set(blocks_[block].next, free_head_);
    free_head_ = block;
    ++free_count_;
}

// The jump goes twice as far as the previous block's own two jumps when those were of equal length, else one
// step: so any depth is reached from any later one in a logarithmic number of steps.
void VersionIndex::link_back(Block& block, std::uint32_t previous, std::uint32_t first_depth) noexcept {
    set(block.previous, previous);
    const Block& parent = blocks_[previous];
    const std::uint32_t depth = previous == 0 ? 0 : get(parent.depth) + 1;
    set(block.depth, depth);
    const std::uint32_t length = get(parent.depth) - get(parent.jump_depth);
    if (previous != 0 && get(parent.jump) != 0 && length == get(parent.jump_depth) - get(parent.over_depth)) {
        const std::uint32_t far = get(parent.over);
        set(block.jump, far);
        set(block.jump_depth, get(parent.over_depth));
        // A block before the first is somebody else's by now.
        const bool is_there = far != 0 && get(parent.over_depth) >= first_depth;
        set(block.over, is_there ? get(blocks_[far].jump) : 0);
        set(block.over_depth, is_there ? get(blocks_[far].jump_depth) : 0);
        return;
    }
    set(block.jump, previous);
    set(block.jump_depth, previous == 0 ? 0 : depth - 1);
    set(block.over, previous == 0 ? 0 : get(parent.jump));
    set(block.over_depth, previous == 0 ? 0 : get(parent.jump_depth));
}

// The oldest block of the page itself, when all its versions were superseded at or before the tick; or zero.
std::uint32_t VersionIndex::reuse_first(Page& page, std::uint32_t needed_tick) noexcept {
    const std::uint32_t first = get(page.first);
    if (first == 0) return 0;
    const std::uint32_t next = get(blocks_[first].next);
    if (next == 0 || get(blocks_[first].next_tick) > needed_tick) return 0;
    begin_change();
    set(page.first, next);
    set(page.first_depth, get(page.first_depth) + 1);
    end_change();
    return first;
}

bool VersionIndex::start_block(std::uint32_t page_number, Version version,
                               std::uint32_t needed_tick) noexcept {
    Page& page = pages_[page_number];
    std::uint32_t number = reuse_first(page, needed_tick);
    if (number == 0) number = take_block();
    if (number == 0) return false;
    Block& block = blocks_[number];
    const std::uint32_t previous = tail_of(page).last;
    link_back(block, previous, get(page.first_depth));
    set(block.next, 0);
    put(block.versions[0], version);
    if (previous == 0) {
        set(page.first, number);
        set(page.first_depth, 0);
    } else {
        set(blocks_[previous].next, number);
        set(blocks_[previous].next_tick, version.tick);
    }
    finish_append(page_number, {number, 1}, version);
    return true;
}

// Each step leads to a lesser depth. Where it does not, a block was taken for something else meanwhile; links
// can lead in a circle then.
std::uint32_t VersionIndex::block_at_or_before(const Page& page, std::uint32_t last,
                                               std::uint32_t tick) const noexcept {
    std::uint32_t number = last;
    const std::uint32_t first_depth = get(page.first_depth);
    std::uint32_t behind = UINT32_MAX;
    while (number != 0) {
        const Block& block = blocks_[number];
        if (get(block.versions[0].tick) <= tick) return number;
        const std::uint32_t depth = get(block.depth);
        if (depth <= first_depth || depth >= behind) return 0;
        behind = depth;
        const std::uint32_t jump = get(block.jump);
        const bool may_jump = jump != 0 && get(block.jump_depth) >= first_depth;
        number = may_jump && get(blocks_[jump].versions[0].tick) > tick ? jump : get(block.previous);
        if (number >= blocks_.size()) return 0;
    }
    return 0;
}

Version VersionIndex::find(std::uint32_t number, std::uint32_t tick) const noexcept {
    return locate(number, tick).version;
}

VersionIndex::Located VersionIndex::locate_in(Tail tail, std::uint32_t number,
                                              std::uint32_t tick) const noexcept {
    if (number == 0 || number >= blocks_.size()) return {};
    Block& block = blocks_[number];
    const std::uint32_t count = count_in(tail, number);
    std::uint32_t index = count;
    while (index > 1 && get(block.versions[index - 1].tick) > tick)
        --index;
    Place& place = block.versions[index - 1];
    Located found{.version = {get(place.tick), place.slot.load(std::memory_order_seq_cst)},
                  .until = 0,
                  .slot = &place.slot};
    const std::uint32_t next = get(block.next);
    if (index < count)
        found.until = get(block.versions[index].tick);
    else if (next != 0 && next < blocks_.size())
        found.until = get(blocks_[next].versions[0].tick);
    return found;
}

// Behind stale blocks, which a page that changes takes for its next ones.
VersionIndex::Located VersionIndex::locate_old(std::uint32_t number, std::uint32_t tick) const noexcept {
    std::uint32_t at = get(pages_[number].first);
    if (at == 0 || get(blocks_[at].versions[0].tick) > tick) return {};
    for (std::uint32_t next = get(blocks_[at].next); next != 0; next = get(blocks_[at].next)) {
        if (get(blocks_[next].versions[0].tick) > tick) break;
        at = next;
    }
    return locate_in(tail_of(pages_[number]), at, tick);
}

void VersionIndex::move_newest(std::uint32_t number, std::uint32_t to) noexcept {
    hand_on_newest(number, to);
    move(pages_[number].newest_slot, to);
}

void VersionIndex::hand_on_newest(std::uint32_t number, std::uint32_t to) noexcept {
    const Tail tail = tail_of(pages_[number]);
    move(blocks_[tail.last].versions[tail.count - 1].slot, to);
}

// They are free as one chain.
void VersionIndex::cut_behind(std::uint32_t number, Tail tail) noexcept {
    Page& page = pages_[number];
    const std::uint32_t end = tail_of(page).last;
    if (end != tail.last) {
        const std::uint32_t head = tail.last == 0 ? get(page.first) : get(blocks_[tail.last].next);
        const std::uint32_t behind =
            tail.last == 0 ? get(page.first_depth) : get(blocks_[tail.last].depth) + 1;
        free_count_ += get(blocks_[end].depth) - behind + 1;
        set(blocks_[end].next, free_head_);
        free_head_ = head;
        if (tail.last == 0) {
            set(page.first, 0);
            set(page.first_depth, 0);
        } else {
            set(blocks_[tail.last].next, 0);
        }
    }
    Version newest;
    if (tail.last != 0) {
        const Place& place = blocks_[tail.last].versions[tail.count - 1];
        newest = {get(place.tick), get(place.slot)};
    }
    finish_append(number, tail, newest);
}

// Requires: the block begins behind the tick.
std::uint32_t VersionIndex::step_back(const Page& page, const Block& block,
                                      std::uint32_t tick) const noexcept {
    const std::uint32_t first_depth = get(page.first_depth);
    if (get(block.depth) <= first_depth) return 0;
    const std::uint32_t jump = get(block.jump);
    const bool may_jump = jump != 0 && get(block.jump_depth) >= first_depth;
    return may_jump && get(blocks_[jump].versions[0].tick) > tick ? jump : get(block.previous);
}

void VersionIndex::find_blocks(std::span<const std::uint32_t> pages, std::uint32_t tick,
                               std::span<std::uint32_t> blocks) const noexcept {
    for (std::size_t at = 0; at < pages.size(); ++at)
        blocks[at] = tail_of(pages_[pages[at]]).last;
    for (bool moves = true; moves;) {
        moves = false;
        for (std::size_t at = 0; at < pages.size(); ++at) {
            const Block& block = blocks_[blocks[at]];
            if (blocks[at] == 0 || get(block.versions[0].tick) <= tick) continue;
            moves = true;
            __builtin_prefetch(&blocks_[get(block.previous)], 1);
            __builtin_prefetch(&blocks_[get(block.jump)], 1);
        }
        for (std::size_t at = 0; moves && at < pages.size(); ++at) {
            const Block& block = blocks_[blocks[at]];
            if (blocks[at] == 0 || get(block.versions[0].tick) <= tick) continue;
            blocks[at] = step_back(pages_[pages[at]], block, tick);
        }
    }
}

void VersionIndex::truncate_at(std::uint32_t number, std::uint32_t tick, std::uint32_t last) noexcept {
    Page& page = pages_[number];
    Tail tail = tail_of(page);
    tail = {last, last == 0 ? 0 : count_in(tail, last)};
    while (tail.count > 1 && get(blocks_[last].versions[tail.count - 1].tick) > tick)
        --tail.count;
    cut_behind(number, tail);
}

void VersionIndex::begin_change() noexcept {
    state_.store(get(state_) + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
}

void VersionIndex::end_change() noexcept {
    state_.store(get(state_) + 1, std::memory_order_release);
}

bool VersionIndex::is_sound(std::uint32_t own) const noexcept {
    const Page& page = pages_[own];
    const Tail tail = tail_of(page);
    if (tail.count > kBlockVersions || (tail.last != 0) != (tail.count != 0)) return false;
    std::uint32_t previous = 0;
    std::uint32_t newest = 0;
    std::uint32_t depth = get(page.first_depth);
    bool is_first = true;
    for (std::uint32_t number = get(page.first); number != 0; number = get(blocks_[number].next)) {
        if (number >= fresh_) return false;
        const Block& block = blocks_[number];
        if (get(block.depth) != depth++) return false;
        if (previous != 0 && get(block.previous) != previous) return false;
        for (std::uint32_t index = 0; index < count_in(tail, number); ++index) {
            const std::uint32_t tick = get(block.versions[index].tick);
            if (!is_first && tick <= newest) return false;
            is_first = false;
            newest = tick;
        }
        previous = number;
    }
    return tail.last == previous && (previous == 0 || get(newest_ticks_[own]) == newest);
}

Status VersionIndex::check() const noexcept {
    for (std::uint32_t page = 0; page < pages_.size(); ++page)
        if (!is_sound(page)) return Status::corrupt_data;
    return Status::ok;
}

}  // namespace ouro::detail
