#include "version_index.hpp"

#include <ouro/base/assert.hpp>

namespace ouro::detail {

void VersionIndex::carve(Carver& carver, std::uint32_t pages, std::uint64_t versions) noexcept {
    blocks_ = carver.take<Block>(blocks_for(versions, pages) + 1);
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

bool VersionIndex::start_block(Page& page, Version version, std::uint32_t needed_tick) noexcept {
    std::uint32_t number = reuse_first(page, needed_tick);
    if (number == 0) number = take_block();
    if (number == 0) return false;
    Block& block = blocks_[number];
    const std::uint32_t previous = get(page.last);
    link_back(block, previous, get(page.first_depth));
    set(block.next, 0);
    set(block.ticks[0], version.tick);
    set(block.slots[0], version.slot);
    set(block.count, 1);
    if (previous == 0) {
        set(page.first, number);
        set(page.first_depth, 0);
    } else {
        set(blocks_[previous].next, number);
        set(blocks_[previous].next_tick, version.tick);
    }
    page.last.store(number, std::memory_order_release);
    return true;
}

bool VersionIndex::append(std::uint32_t number, Version version, std::uint32_t needed_tick) noexcept {
    Page& page = pages_[number];
    const std::uint32_t last = get(page.last);
    const std::uint32_t count = last == 0 ? kBlockVersions : get(blocks_[last].count);
    if (count == kBlockVersions) {
        if (!start_block(page, version, needed_tick)) return false;
    } else {
        set(blocks_[last].ticks[count], version.tick);
        set(blocks_[last].slots[count], version.slot);
        blocks_[last].count.store(count + 1, std::memory_order_release);
    }
    // The tick first: a reader of an older one that sees the slot sees that it is not for it.
    set(newest_ticks_[number], version.tick);
    page.newest_slot.store(version.slot, std::memory_order_release);
    return true;
}

// Each step leads to a lesser depth. Where it does not, a block was taken for something else meanwhile; links
// can lead in a circle then.
std::uint32_t VersionIndex::block_at_or_before(const Page& page, std::uint32_t tick) const noexcept {
    std::uint32_t number = page.last.load(std::memory_order_acquire);
    const std::uint32_t first_depth = get(page.first_depth);
    std::uint32_t behind = UINT32_MAX;
    while (number != 0) {
        const Block& block = blocks_[number];
        if (get(block.ticks[0]) <= tick) return number;
        const std::uint32_t depth = get(block.depth);
        if (depth <= first_depth || depth >= behind) return 0;
        behind = depth;
        const std::uint32_t jump = get(block.jump);
        const bool may_jump = jump != 0 && get(block.jump_depth) >= first_depth;
        number = may_jump && get(blocks_[jump].ticks[0]) > tick ? jump : get(block.previous);
        if (number >= blocks_.size()) return 0;
    }
    return 0;
}

Version VersionIndex::find(std::uint32_t number, std::uint32_t tick) const noexcept {
    const Page& page = pages_[number];
    const std::uint32_t found = block_at_or_before(page, tick);
    if (found == 0) return {};
    const Block& block = blocks_[found];
    std::uint32_t index = block.count.load(std::memory_order_acquire);
    while (index > 1 && get(block.ticks[index - 1]) > tick)
        --index;
    return {get(block.ticks[index - 1]), block.slots[index - 1].load(std::memory_order_seq_cst)};
}

VersionIndex::Located VersionIndex::locate_in(std::uint32_t number, std::uint32_t tick) const noexcept {
    if (number == 0 || number >= blocks_.size()) return {};
    Block& block = blocks_[number];
    const std::uint32_t count = block.count.load(std::memory_order_acquire);
    std::uint32_t index = count;
    while (index > 1 && get(block.ticks[index - 1]) > tick)
        --index;
    Located found{
        .version = {get(block.ticks[index - 1]), block.slots[index - 1].load(std::memory_order_seq_cst)},
        .until = 0,
        .slot = &block.slots[index - 1]};
    const std::uint32_t next = get(block.next);
    if (index < count)
        found.until = get(block.ticks[index]);
    else if (next != 0 && next < blocks_.size())
        found.until = get(blocks_[next].ticks[0]);
    return found;
}

// Behind stale blocks, which a page that changes takes for its next ones.
VersionIndex::Located VersionIndex::locate_old(std::uint32_t number, std::uint32_t tick) const noexcept {
    std::uint32_t at = get(pages_[number].first);
    if (at == 0 || get(blocks_[at].ticks[0]) > tick) return {};
    for (std::uint32_t next = get(blocks_[at].next); next != 0; next = get(blocks_[at].next)) {
        if (get(blocks_[next].ticks[0]) > tick) break;
        at = next;
    }
    return locate_in(at, tick);
}

void VersionIndex::move_newest(std::uint32_t number, std::uint32_t to) noexcept {
    hand_on_newest(number, to);
    move(pages_[number].newest_slot, to);
}

void VersionIndex::hand_on_newest(std::uint32_t number, std::uint32_t to) noexcept {
    Block& last = blocks_[get(pages_[number].last)];
    move(last.slots[get(last.count) - 1], to);
}

void VersionIndex::note_newest(std::uint32_t number) noexcept {
    Page& page = pages_[number];
    const std::uint32_t last = get(page.last);
    const std::uint32_t count = last == 0 ? 0 : get(blocks_[last].count);
    set(newest_ticks_[number], last == 0 ? 0 : get(blocks_[last].ticks[count - 1]));
    set(page.newest_slot, last == 0 ? 0 : get(blocks_[last].slots[count - 1]));
}

// What is behind the block is free, as one chain, and the block is the last.
void VersionIndex::free_after(Page& page, std::uint32_t last) noexcept {
    const std::uint32_t tail = get(page.last);
    if (tail == last) return;
    const std::uint32_t head = last == 0 ? get(page.first) : get(blocks_[last].next);
    const std::uint32_t behind = last == 0 ? get(page.first_depth) : get(blocks_[last].depth) + 1;
    free_count_ += get(blocks_[tail].depth) - behind + 1;
    set(blocks_[tail].next, free_head_);
    free_head_ = head;
    if (last == 0) {
        set(page.first, 0);
        set(page.first_depth, 0);
    } else {
        set(blocks_[last].next, 0);
    }
    set(page.last, last);
}

void VersionIndex::truncate(std::uint32_t number, std::uint32_t tick) noexcept {
    Page& page = pages_[number];
    const std::uint32_t last = block_at_or_before(page, tick);
    free_after(page, last);
    if (last != 0) {
        std::uint32_t count = get(blocks_[last].count);
        while (count > 1 && get(blocks_[last].ticks[count - 1]) > tick)
            --count;
        set(blocks_[last].count, count);
    }
    note_newest(number);
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
    std::uint32_t previous = 0;
    std::uint32_t newest = 0;
    std::uint32_t depth = get(page.first_depth);
    bool is_first = true;
    for (std::uint32_t number = get(page.first); number != 0; number = get(blocks_[number].next)) {
        if (number >= fresh_) return false;
        const Block& block = blocks_[number];
        const std::uint32_t count = get(block.count);
        if (count == 0 || count > kBlockVersions || get(block.depth) != depth++) return false;
        if (previous != 0 && get(block.previous) != previous) return false;
        for (std::uint32_t index = 0; index < count; ++index) {
            const std::uint32_t tick = get(block.ticks[index]);
            if (!is_first && tick <= newest) return false;
            is_first = false;
            newest = tick;
        }
        previous = number;
    }
    return get(page.last) == previous && (previous == 0 || get(newest_ticks_[own]) == newest);
}

Status VersionIndex::check() const noexcept {
    for (std::uint32_t page = 0; page < pages_.size(); ++page)
        if (!is_sound(page)) return Status::corrupt_data;
    return Status::ok;
}

}  // namespace ouro::detail
