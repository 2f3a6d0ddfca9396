#include <ouro/memory/bump_range.hpp>

#include <algorithm>
#include <memory>
#include <utility>

namespace ouro {

BumpRange::BumpRange(GrowingRange range) noexcept : range_(std::move(range)) {
    range_.tell_sanitizers();
    cursor_ = begin_address();
    limit_ = cursor_ + range_.usable_bytes();
}

BumpRange::BumpRange(BumpRange&& other) noexcept
    : cursor_(std::exchange(other.cursor_, 0)),
      limit_(std::exchange(other.limit_, 0)),
      allocations_(std::exchange(other.allocations_, 0)),
      failures_(std::exchange(other.failures_, 0)),
      recent_peak_bytes_(std::exchange(other.recent_peak_bytes_, 0)),
      peak_bytes_(std::exchange(other.peak_bytes_, 0)),
      range_(std::move(other.range_)) {}

BumpRange& BumpRange::operator=(BumpRange&& other) noexcept {
    if (this != &other) {
        std::destroy_at(this);
        std::construct_at(this, std::move(other));
    }
    return *this;
}

Expected<std::size_t> BumpRange::end_of(std::size_t size, std::size_t alignment) const noexcept {
    const Status asked = check_allocation(size, alignment);
    if (asked != Status::ok) return asked;
    const auto start = checked_align_up(cursor_, alignment);
    if (!start) return start.status();
    const auto end = checked_add<std::size_t>(*start - begin_address(), size);
    if (!end) return end.status();
    if (*end > range_.whole().size) return Status::capacity_exhausted;
    return *end;
}

Status BumpRange::grow(std::size_t bytes) noexcept {
    const Status grown = range_.grow(bytes).status();
    limit_ = begin_address() + range_.usable_bytes();
    // Those who grow the range are about to use it that far.
    if (grown == Status::ok) range_.publish(bytes, peak_bytes());
    return grown;
}

Expected<MemoryBlock> BumpRange::take_slow(std::size_t size, std::size_t alignment) noexcept {
    const auto end = end_of(size, alignment);
    const Status status = end ? grow(*end) : end.status();
    if (status == Status::ok) return take(size, alignment);
    ++failures_;
    return status;
}

Expected<MemoryBlock> BumpRange::resize(MemoryBlock newest, std::size_t new_size) noexcept {
    OURO_DEBUG_ASSERT(is_newest(newest), "only the newest block can change in place");
    const auto offset = reinterpret_cast<std::uintptr_t>(newest.data) - begin_address();
    Status status = new_size == 0 ? Status::zero_size : Status::ok;
    if (status == Status::ok && new_size > range_.whole().size - offset) status = Status::capacity_exhausted;
    if (status == Status::ok) status = grow(offset + new_size);
    if (status != Status::ok) return status;
    const MemoryBlock resized{newest.data, new_size};
    annotate::resized(range_.pool(), newest, resized);
    note_peak();
    cursor_ = reinterpret_cast<std::uintptr_t>(resized.end());
    return resized;
}

void BumpRange::annotate_free_from(std::uintptr_t cursor) const noexcept {
    const MemoryBlock kept{range_.whole().data, cursor - begin_address()};
    if (kept.is_null()) return;
    annotate::freed_outside(range_.pool(), kept, {kept.end(), cursor_ - cursor});
}

void BumpRange::shrink(std::size_t bytes) noexcept {
    range_.shrink(std::max(bytes, used_bytes()));
    limit_ = begin_address() + range_.usable_bytes();
    publish();
}

std::size_t BumpRange::recent_peak_bytes() const noexcept {
    return std::max(recent_peak_bytes_, used_bytes());
}

std::size_t BumpRange::peak_bytes() const noexcept {
    return std::max(peak_bytes_, recent_peak_bytes());
}

void BumpRange::forget_recent_peak() noexcept {
    peak_bytes_ = peak_bytes();
    recent_peak_bytes_ = 0;
}

ResourceStats BumpRange::stats() const noexcept {
    return {.live_bytes = used_bytes(),
            .peak_bytes = peak_bytes(),
            .live_blocks = 0,
            .reserved_bytes = range_.whole().size,
            .committed_bytes = range_.usable_bytes(),
            .allocations = allocations_,
            .failures = failures_};
}

Status BumpRange::check() const noexcept {
    const bool ordered = cursor_ >= begin_address() && cursor_ <= limit_;
    const bool bounded =
        limit_ == begin_address() + range_.usable_bytes() && range_.usable_bytes() <= range_.whole().size;
    return ordered && bounded ? Status::ok : Status::corrupt_data;
}

}  // namespace ouro
