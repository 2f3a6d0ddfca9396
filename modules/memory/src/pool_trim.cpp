// What a pool does rarely: giving memory back, reporting, verifying.
#include <ouro/memory/pool_core.hpp>

#include <algorithm>
#include <array>
#include <limits>

namespace ouro {
namespace {

// Both lists ascend by address; so does the result.
template <class Node>
Node* merge(Node* one, Node* other) noexcept {
    Node* head = nullptr;
    Node** end = &head;
    while (one != nullptr && other != nullptr) {
        Node*& lower =
            reinterpret_cast<std::uintptr_t>(one) < reinterpret_cast<std::uintptr_t>(other) ? one : other;
        *end = lower;
        end = &lower->next;
        lower = lower->next;
    }
    *end = one != nullptr ? one : other;
    return head;
}

// Sorts in place, without memory of its own: place i holds a sorted list of 2^i nodes or nothing, as a
// counter's bits do.
template <class Node>
Node* sorted(Node* list) noexcept {
    std::array<Node*, std::numeric_limits<std::size_t>::digits> places{};
    while (list != nullptr) {
        Node* carry = list;
        list = list->next;
        carry->next = nullptr;
        std::size_t i = 0;
        for (; places[i] != nullptr; ++i) {
            carry = merge(places[i], carry);
            places[i] = nullptr;
        }
        places[i] = carry;
    }
    Node* all = nullptr;
    for (Node* place : places)
        all = merge(place, all);
    return all;
}

}  // namespace

bool PoolCore::wants_trim() const noexcept {
    if (shrink_threshold_ <= 0.0) return false;
    const std::size_t live = live_blocks();
    const auto in_memory = static_cast<std::size_t>(books_.fresh_end - begin_) / block_bytes_;
    return live <= books_.trim_below &&
           static_cast<double>(live) < shrink_threshold_ * static_cast<double>(in_memory);
}

std::size_t PoolCore::trim() noexcept {
    spill(in_magazine());
    books_.list = merge(sorted(books_.list), sorted(collect_remote()));
    cut_free_end();
    const std::size_t before = range_.usable_bytes();
    range_.shrink(bytes_with(std::max(touched_blocks(), initial_blocks_)));
    note_usable();
    const std::size_t given_back = before - range_.usable_bytes();
    if (given_back != 0) ++books_.shrinks;
    publish();
    return given_back;
}

// Requires: a sorted list. Makes the blocks fresh again that are free behind the last one in use.
void PoolCore::cut_free_end() noexcept {
    // The link to the first node of the last run without a gap.
    Node** run = &books_.list;
    std::size_t length = 0;
    for (Node** link = &books_.list; *link != nullptr; link = &(*link)->next) {
        const bool follows = length != 0 && reinterpret_cast<std::byte*>(*link) ==
                                                reinterpret_cast<std::byte*>(*run) + length * block_bytes_;
        if (!follows) {
            run = link;
            length = 0;
        }
        ++length;
    }
    if (length == 0 || reinterpret_cast<std::byte*>(*run) + length * block_bytes_ != books_.fresh) return;
    note_peak();
    books_.fresh = reinterpret_cast<std::byte*>(*run);
    *run = nullptr;
    annotate::forbid({books_.fresh, length * block_bytes_});
    books_.left_list += length;
    books_.forgotten += length;
}

void PoolCore::reset() noexcept {
    // A pool that was moved from has nothing.
    if (range_.whole().is_null()) return;
    note_peak();
    books_.forgotten += touched_blocks();
    annotate::freed_outside(range_.pool(), {begin_, 0}, {begin_, touched_blocks() * block_bytes_});
    books_.fresh = begin_;
    books_.list = nullptr;
    state_ -= in_magazine();
    (void)collect_remote();
    books_.left_list = books_.spilled + books_.collected;
}

void PoolCore::note_peak() noexcept {
    books_.peak_blocks = std::max(books_.peak_blocks, touched_blocks());
}

void PoolCore::publish() noexcept {
    range_.publish(live_blocks() * block_bytes_,
                   std::max(books_.peak_blocks, touched_blocks()) * block_bytes_);
}

ResourceStats PoolCore::stats() const noexcept {
    const std::size_t live = live_blocks();
    return {.live_bytes = live * block_bytes_,
            .peak_bytes = std::max(books_.peak_blocks, touched_blocks()) * block_bytes_,
            .live_blocks = live,
            .reserved_bytes = range_.whole().size,
            .committed_bytes = range_.usable_bytes(),
            .allocations = state_ / kOneAllocation,
            .failures = books_.failures};
}

PoolStats PoolCore::pool_stats() const noexcept {
    const std::uint64_t remote = remote_.count.load(std::memory_order_relaxed);
    const std::uint64_t fresh = books_.forgotten + touched_blocks();
    return {.reused = state_ / kOneAllocation - fresh,
            .fresh = fresh,
            .growths = books_.growths,
            .shrinks = books_.shrinks,
            .remote_frees = remote,
            .longest_remote_queue = std::max(books_.longest_remote_queue, remote - books_.collected)};
}

std::size_t PoolCore::walk(const Node* list, std::size_t limit) const noexcept {
    std::size_t count = 0;
    for (; list != nullptr && count <= limit; list = list->next, ++count) {
        if (!is_block(list)) return limit + 1;
    }
    return count;
}

Status PoolCore::check() const noexcept {
    const bool ordered = begin_ <= books_.fresh && books_.fresh <= books_.fresh_end &&
                         books_.fresh_end <= range_.whole().data + range_.usable_bytes();
    if (!ordered || touched_blocks() > max_blocks_ || in_magazine() > kMagazineBlocks)
        return Status::corrupt_data;
    const auto cached_end = magazine_.data() + in_magazine();
    for (auto cached = magazine_.data(); cached != cached_end; ++cached) {
        if (!is_block(*cached) || std::find(cached + 1, cached_end, *cached) != cached_end)
            return Status::corrupt_data;
    }
    // A list with a cycle is longer than everything there can be on it.
    const std::size_t most = touched_blocks() - in_magazine();
    const std::size_t local = walk(books_.list, most);
    const std::size_t remote = walk(remote_.head.load(std::memory_order_acquire), most);
    const bool counted = local <= most && remote <= most && local + remote == on_lists();
    return counted && local + remote <= most ? Status::ok : Status::corrupt_data;
}

}  // namespace ouro
