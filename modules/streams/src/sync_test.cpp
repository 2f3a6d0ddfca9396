#include <ouro/streams/sync_test.hpp>

#include <algorithm>
#include <cstring>

namespace ouro {
namespace {

struct Hashes {
    std::uint64_t portable = 0;
    std::uint64_t process_bound = 0;

    friend bool operator==(const Hashes&, const Hashes&) = default;
};

Hashes hashes_of(const StateRing& ring, Tick tick) noexcept {
    return {ring.hash(tick).value_or(0), ring.hash(tick, SegmentKind::process_bound).value_or(0)};
}

// How many bytes from the offset on belong to segments of the other kind; the header and what lies between
// segments counts as portable.
std::uint64_t other_kind_at(const StateRing& ring, std::uint64_t offset, SegmentKind kind) noexcept {
    for (const Segment& segment : ring.segments())
        if (offset - segment.offset < segment.bytes)
            return segment.kind == kind ? 0 : segment.offset + segment.bytes - offset;
    return 0;
}

// The first byte of a range that counts and differs: it is of the kind and not masked. Ranges are of whole
// words, so that all that differs in one may be masked; then it is the range's end.
std::uint64_t first_that_counts(const StateRing& ring, const TickView& first, const TickView& second,
                                ChangedRange range, SegmentKind kind) noexcept {
    const std::uint64_t end = range.offset + range.bytes;
    std::uint64_t offset = range.offset;
    while (offset < end) {
        if (const std::uint64_t skipped = other_kind_at(ring, offset, kind); skipped != 0) {
            offset += skipped;
            continue;
        }
        const auto page = static_cast<std::uint32_t>(offset >> kStatePageShift);
        const std::byte* one = first.page(page);
        const std::byte* other = second.page(page);
        const std::uint64_t page_end = (std::uint64_t{page} + 1) << kStatePageShift;
        // Segments are of whole pages.
        for (; offset < std::min(end, page_end); ++offset) {
            const std::size_t at = offset % kStatePageBytes;
            if (one[at] != other[at] && !ring.is_masked(offset)) return offset;
        }
    }
    return end;
}

// How far a range goes on from an offset in it that counts: no further than the first byte that does not.
std::uint64_t counting_bytes(const StateRing& ring, std::uint64_t offset, std::uint64_t end,
                             SegmentKind kind) noexcept {
    for (const Segment& segment : ring.segments())
        if (segment.kind != kind && segment.offset > offset) end = std::min(end, segment.offset);
    std::uint64_t bytes = 1;
    while (offset + bytes < end && !ring.is_masked(offset + bytes))
        ++bytes;
    return bytes;
}

void read_both(const TickView& first, const TickView& second, SyncDifference& difference) noexcept {
    const auto shown =
        static_cast<std::size_t>(std::min<std::uint64_t>(difference.bytes, difference.first.size()));
    difference.first = {};
    difference.second = {};
    (void)first.read(difference.offset, std::span(difference.first).first(shown));
    (void)second.read(difference.offset, std::span(difference.second).first(shown));
}

// The first bytes that differ and count, with where they are and what they were.
void describe_bytes(const StateRing& ring, const TickView& first, const TickView& second,
                    SyncDifference& difference) noexcept {
    StateRing::changed(first, second, [&](ChangedRange range) {
        if (difference.page_known) return;
        const std::uint64_t end = range.offset + range.bytes;
        const std::uint64_t offset = first_that_counts(ring, first, second, range, difference.kind);
        if (offset >= end) return;
        difference.page_known = true;
        difference.offset = offset;
        difference.bytes = counting_bytes(ring, offset, end, difference.kind);
        difference.page = static_cast<std::uint32_t>(offset >> kStatePageShift);
    });
    if (!difference.page_known) return;
    for (const Segment& segment : ring.segments())
        if (difference.offset - segment.offset < segment.bytes) difference.segment = segment.name_text;
    read_both(first, second, difference);
}

// Goes back, with the first run kept aside where that can be paid for; else it is said what was missing.
Expected<KeptFuture> go_back(StateRing& ring, Tick tick, Status& not_kept) noexcept {
    const auto future = ring.branch(tick);
    if (future ||
        (future.status() != Status::budget_exceeded && future.status() != Status::capacity_exhausted))
        return future;
    not_kept = future.status();
    if (const auto done = ring.rollback(tick); !done) return done.status();
    return KeptFuture();
}

SyncDifference describe(const StateRing& ring, KeptFuture future, Tick tick, const Hashes& first,
                        const Hashes& second, std::span<const OwnerSource> sources) noexcept {
    const bool is_portable = first.portable != second.portable;
    SyncDifference difference{.tick = tick,
                              .first_hash = is_portable ? first.portable : first.process_bound,
                              .second_hash = is_portable ? second.portable : second.process_bound,
                              .kind = is_portable ? SegmentKind::portable : SegmentKind::process_bound};
    if (future.is_null()) return difference;
    const auto before = ring.view(future, tick);
    const auto after = ring.view(tick);
    difference.not_kept = before ? after.status() : before.status();
    if (before && after) describe_bytes(ring, *before, *after, difference);
    if (difference.page_known) difference.owner = find_owner(ring, difference.offset, sources);
    return difference;
}

}  // namespace

Expected<SyncOutcome> sync_test(StateRing& ring, std::uint32_t distance, StepFunction step, void* function,
                                std::span<const OwnerSource> sources) noexcept {
    if (distance == 0 || distance > kMaxSyncDistance) return Status::bad_argument;
    const Tick newest = ring.newest();
    if (const auto hash = ring.hash(newest); !hash) return hash.status();
    // What the first tick holds beside its step, the beginning of all, cannot be simulated again.
    const Tick first_start = std::max<Tick>(1, ring.oldest());
    if (newest < 1 + Tick{distance}) return SyncOutcome{};
    // Never "not enough yet" for ever: a test that cannot go back so far must not pass.
    if (newest < first_start + distance) return Status::tick_gone;
    const Tick start = newest - distance;
    std::array<Hashes, kMaxSyncDistance> first;
    for (std::uint32_t index = 0; index < distance; ++index)
        first[index] = hashes_of(ring, start + 1 + index);
    Status not_kept = Status::ok;
    const auto future = go_back(ring, start, not_kept);
    if (!future) return future.status();
    SyncOutcome outcome;
    outcome.ticks = distance;
    Status status = Status::ok;
    for (std::uint32_t index = 0; index < distance && status == Status::ok; ++index) {
        const Tick tick = start + 1 + index;
        step(function, tick);
        status = ring.newest() + 1 == tick ? ring.commit().status() : Status::bad_argument;
        if (status != Status::ok) continue;
        const Hashes second = hashes_of(ring, tick);
        if (outcome.differs || second == first[index]) continue;
        outcome.differs = true;
        outcome.difference = describe(ring, *future, tick, first[index], second, sources);
        if (future->is_null()) outcome.difference.not_kept = not_kept;
    }
    if (!future->is_null()) (void)ring.drop(*future);
    if (status != Status::ok) return status;
    return outcome;
}

}  // namespace ouro
