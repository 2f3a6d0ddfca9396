#include <ouro/memory/annotations.hpp>
#include <ouro/memory/detail/block_assert.hpp>
#include <ouro/memory/no_allocation_scope.hpp>
#include <ouro/memory/seal.hpp>
#include <ouro/memory/two_ended_stack.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

namespace ouro {
namespace {

std::byte* at(std::uintptr_t address) noexcept {
    return reinterpret_cast<std::byte*>(address);
}

}  // namespace

Expected<TwoEndedStack> TwoEndedStack::create(const Options& options) noexcept {
    const auto step = checked_align_up(options.commit_step_bytes, os::page_size());
    if (!step) return step.status();
    auto own = os::Reservation::create({.bytes = options.max_bytes}, os::page_size());
    if (!own) return own.status();
    Range range;
    range.whole = own->block();
    range.cursor = range.limit = {range.begin(), range.end()};
    range.step_bytes = std::max(*step, os::page_size());
    range.own = *std::move(own);
    range.listing = BlockRegistration({.name = options.name,
                                       .tag = options.tag,
                                       .base = range.whole.data,
                                       .reserved_bytes = range.whole.size});
    return TwoEndedStack(std::move(range), options.name);
}

Expected<TwoEndedStack> TwoEndedStack::create_on(MemoryResource& upstream, std::size_t bytes,
                                                 const char* name) noexcept {
    const auto block = upstream.allocate(bytes, kDefaultAlignment);
    if (!block) return block.status();
    Range range;
    range.whole = *block;
    range.cursor = {range.begin(), align_down(range.end(), kDefaultAlignment)};
    range.limit = {range.end(), range.end()};
    range.upstream = &upstream;
    range.listing = BlockRegistration({.name = name,
                                       .kind = BlockKind::borrowed,
                                       .base = block->data,
                                       .reserved_bytes = block->size,
                                       .committed_bytes = block->size});
    return TwoEndedStack(std::move(range), name);
}

TwoEndedStack::TwoEndedStack(Range range, const char* name) noexcept
    : range_(std::move(range)), front_(range_, StackEnd::front, name), back_(range_, StackEnd::back, name) {
    range_.tell_sanitizers();
}

TwoEndedStack::TwoEndedStack(TwoEndedStack&& other) noexcept
    : range_(std::exchange(other.range_, {})), front_(other.front_), back_(other.back_) {
    front_.range_ = back_.range_ = &range_;
    // What is left behind is a stack without room.
    other.front_ = End(other.range_, StackEnd::front, front_.name_);
    other.back_ = End(other.range_, StackEnd::back, back_.name_);
}

TwoEndedStack& TwoEndedStack::operator=(TwoEndedStack&& other) noexcept {
    if (this != &other) {
        std::destroy_at(this);
        std::construct_at(this, std::move(other));
    }
    return *this;
}

TwoEndedStack::~TwoEndedStack() {
    // A block is not listed any more when somebody else may get it.
    range_.listing = {};
    if (!range_.whole.is_null()) range_.forget_at_sanitizers();
    if (range_.upstream != nullptr) range_.upstream->deallocate(range_.whole, kDefaultAlignment);
}

Status TwoEndedStack::check() const noexcept {
    const Status front = front_.check();
    return front == Status::ok ? back_.check() : front;
}

void TwoEndedStack::Range::tell_sanitizers() noexcept {
    for (const StackEnd side : {StackEnd::front, StackEnd::back}) {
        pool_offset[static_cast<std::size_t>(side)] = annotate::pool_name_offset(whole.data);
        annotate::pool_created(pool(side), upstream != nullptr ? whole : MemoryBlock{});
    }
}

void TwoEndedStack::Range::forget_at_sanitizers() const noexcept {
    annotate::pool_destroyed(pool(StackEnd::front), between(begin(), limit[0]));
    annotate::pool_destroyed(pool(StackEnd::back), between(limit[1], end()));
}

Status TwoEndedStack::Range::make_usable(StackEnd side, std::uintptr_t wanted) noexcept {
    if (is_all_usable()) return Status::ok;
    const bool is_front = side == StackEnd::front;
    if (is_front ? wanted <= limit[0] : wanted >= limit[1]) return Status::ok;
    if (const Status growth = check_unsealed(); growth != Status::ok) return growth;
    const std::size_t missing = is_front ? wanted - limit[0] : limit[1] - wanted;
    const std::size_t more =
        std::min<std::size_t>(align_up(std::max(missing, step_bytes), os::page_size()), limit[1] - limit[0]);
    const std::uintptr_t start = is_front ? limit[0] : limit[1] - more;
    const Status committed = own.commit(start - begin(), more).status();
    if (committed != Status::ok) return committed;
    annotate::forbid(between(start, start + more));
    (is_front ? limit[0] : limit[1]) = is_front ? start + more : start;
    publish();
    return Status::ok;
}

void TwoEndedStack::Range::trim() noexcept {
    if (upstream != nullptr || is_sealed()) return;
    const std::uintptr_t first = align_up(cursor[0], os::page_size());
    const std::uintptr_t last = align_down(cursor[1], os::page_size());
    if (first >= last) return;
    // When the system refuses, the memory simply stays.
    if (is_all_usable()) {
        if (!own.decommit(first - begin(), last - first)) return;
        limit = {first, last};
    } else {
        if (first < limit[0] && own.decommit(first - begin(), limit[0] - first)) limit[0] = first;
        if (last > limit[1] && own.decommit(limit[1] - begin(), last - limit[1])) limit[1] = last;
    }
    // Whoever maps something there later knows nothing of us.
    annotate::permit_written(between(limit[0], limit[1]));
}

Expected<TwoEndedStack::End::Place> TwoEndedStack::End::place(std::uintptr_t from, std::size_t size,
                                                              std::size_t alignment) const noexcept {
    const std::size_t bytes = whole_units(size);
    const std::size_t note = alignment > kUnit ? kUnit : 0;
    if (end_ == StackEnd::front) {
        const auto start = checked_align_up(from + note, std::max(alignment, kUnit));
        if (!start) return start.status();
        const std::uintptr_t other = range_->cursor[1];
        if (*start > other || bytes > other - *start) return Status::capacity_exhausted;
        return Place{*start, *start + bytes};
    }
    const std::uintptr_t other = range_->cursor[0];
    if (bytes > from - other || note > from - other - bytes) return Status::capacity_exhausted;
    const std::uintptr_t start = align_down(from - note - bytes, std::max(alignment, kUnit));
    if (start < other) return Status::capacity_exhausted;
    return Place{start, start};
}

Expected<TwoEndedStack::End::Place> TwoEndedStack::End::reserve_place(std::uintptr_t from, std::size_t size,
                                                                      std::size_t alignment) noexcept {
    Status status = check_allocation(size, alignment);
    if (status == Status::ok) {
        const auto found = place(from, size, alignment);
        status = found ? range_->make_usable(end_, found->cursor) : found.status();
        if (status == Status::ok) return found;
    }
    ++failures_;
    return status;
}

Expected<MemoryBlock> TwoEndedStack::End::allocate_slow(std::size_t size, std::size_t alignment) noexcept {
    const std::uintptr_t before = cursor();
    const auto found = reserve_place(before, size, alignment);
    if (!found) return found.status();
    cursor() = found->cursor;
    if (alignment > kUnit) note_cursor(*found, size, before);
    return count_new(found->start, whole_units(size));
}

void TwoEndedStack::End::note_cursor(Place where, std::size_t size, std::uintptr_t before) const noexcept {
    const std::uintptr_t note =
        end_ == StackEnd::front ? where.start - sizeof(before) : where.start + whole_units(size);
    annotate::permit({at(note), sizeof(before)});
    std::memcpy(at(note), &before, sizeof(before));
}

std::uintptr_t TwoEndedStack::End::noted_cursor(MemoryBlock block) const noexcept {
    const std::uintptr_t start = address_of(block.data);
    std::uintptr_t before = 0;
    std::memcpy(&before, at(is_front() ? start - sizeof(before) : start + whole_units(block.size)),
                sizeof(before));
    return before;
}

void TwoEndedStack::End::annotate_free_above(std::uintptr_t height) const noexcept {
    if (range_->whole.is_null()) return;
    annotate::freed_outside(
        range_->pool(end_),
        is_front() ? range_->between(range_->begin(), height) : range_->between(height, range_->end()),
        is_front() ? range_->between(height, cursor()) : range_->between(cursor(), height));
}

Expected<MemoryBlock> TwoEndedStack::End::reallocate(MemoryBlock block, std::size_t new_size,
                                                     std::size_t alignment) noexcept {
    if (block.is_null()) return allocate(new_size, alignment);
    OURO_BLOCK_ASSERT(is_newest(block), "an end of a stack changes its newest block only", *this, block.data);
    // Checked first: a senseless alignment would read a note that is not there.
    const Status asked = check_allocation(new_size, alignment);
    if (asked != Status::ok) {
        ++failures_;
        return asked;
    }
    const std::uintptr_t before = cursor_before(block, alignment);
    const auto found = reserve_place(before, new_size, alignment);
    if (!found) return found.status();
    note_peak();
    const MemoryBlock moved{at(found->start), whole_units(new_size)};
    block.size = whole_units(block.size);
    if (annotate::kActive && moved.data < block.data)
        annotate::permit({moved.data, static_cast<std::size_t>(block.data - moved.data)});
    if (annotate::kActive && moved.end() > block.end())
        annotate::permit({block.end(), static_cast<std::size_t>(moved.end() - block.end())});
    std::memmove(moved.data, block.data, std::min(block.size, moved.size));
    if constexpr (annotate::kActive) annotate_moved(block, moved, before);
    cursor() = found->cursor;
    if (alignment > kUnit) note_cursor(*found, new_size, before);
    return moved;
}

void TwoEndedStack::End::annotate_moved(MemoryBlock from, MemoryBlock to,
                                        std::uintptr_t before) const noexcept {
    if (end_ == StackEnd::front) return annotate::resized(range_->pool(end_), from, to);
    annotate::moved(range_->pool(end_), from, to);
    // What lies on either side of it is not in use.
    if (to.data > from.data) annotate::forbid(range_->between(address_of(from.data), address_of(to.data)));
    annotate::forbid(range_->between(address_of(to.end()), before));
}

Expected<MemoryBlock> TwoEndedStack::End::try_resize(MemoryBlock block, std::size_t new_size,
                                                     std::size_t alignment) noexcept {
    const Status asked = check_allocation(new_size, alignment);
    if (asked != Status::ok) return asked;
    OURO_DEBUG_ASSERT(!block.is_null(), "nothing can be resized in place");
    block.size = whole_units(block.size);
    if (new_size > block.size) note_allocation();
    const MemoryBlock resized{block.data, whole_units(new_size)};
    if (resized == block) return block;
    // A block whose end is not free must be given back with the size it has.
    if (end_ == StackEnd::back || !is_newest(block)) return Status::capacity_exhausted;
    const std::uintptr_t start = address_of(block.data);
    if (resized.size > range_->cursor[1] - start) return Status::capacity_exhausted;
    const Status usable = range_->make_usable(end_, start + resized.size);
    if (usable != Status::ok) return usable;
    note_peak();
    annotate::resized(range_->pool(end_), block, resized);
    cursor() = start + resized.size;
    return resized;
}

void TwoEndedStack::End::pop_to(Marker marker) noexcept {
    OURO_BLOCK_ASSERT(marker.end == end_, "the marker is of the other end", *this, nullptr);
    OURO_BLOCK_ASSERT(marker.used_bytes <= used_bytes() && marker.live_blocks <= live_blocks_,
                      "the marker is of memory that was freed already", *this, nullptr);
    note_peak();
    const std::uintptr_t base = end_ == StackEnd::front ? range_->begin() : align_down(range_->end(), kUnit);
    move_back_to(end_ == StackEnd::front ? base + marker.used_bytes : base - marker.used_bytes);
    live_blocks_ = marker.live_blocks;
}

ResourceInfo TwoEndedStack::End::info() const noexcept {
    return {.name = name_, .thread_safety = ThreadSafety::single_thread, .frees_blocks = true};
}

ResourceStats TwoEndedStack::End::stats() const noexcept {
    const std::size_t committed =
        end_ == StackEnd::front ? range_->limit[0] - range_->begin() : range_->end() - range_->limit[1];
    return {.live_bytes = used_bytes(),
            .peak_bytes = std::max(peak_bytes_, used_bytes()),
            .live_blocks = live_blocks_,
            .reserved_bytes = range_->whole.size,
            .committed_bytes = committed,
            .allocations = allocations_,
            .failures = failures_};
}

Status TwoEndedStack::End::check() const noexcept {
    const Range& range = *range_;
    const bool ordered = range.begin() <= range.cursor[0] && range.cursor[0] <= range.cursor[1] &&
                         range.cursor[1] <= range.end() && range.limit[0] <= range.limit[1];
    const bool usable =
        range.is_all_usable() || (range.cursor[0] <= range.limit[0] && range.limit[1] <= range.cursor[1]);
    const bool counted = used_bytes() % kUnit == 0 && used_bytes() / kUnit >= live_blocks_;
    return ordered && usable && counted ? Status::ok : Status::corrupt_data;
}

}  // namespace ouro
