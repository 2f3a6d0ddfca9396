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

// A range without what does not count at its front, for it is masked or of the other kind, and up to the next
// segment of the other kind; what is left may be nothing.
ChangedRange counting_part(const StateRing& ring, ChangedRange range, SegmentKind kind) noexcept {
    while (range.bytes != 0) {
        std::uint64_t skipped = other_kind_at(ring, range.offset, kind);
        if (skipped == 0 && ring.is_masked(range.offset)) skipped = 1;
        if (skipped == 0) break;
        skipped = std::min(skipped, range.bytes);
        range.offset += skipped;
        range.bytes -= skipped;
    }
    for (const Segment& segment : ring.segments())
        if (segment.kind != kind && segment.offset > range.offset)
            range.bytes = std::min(range.bytes, segment.offset - range.offset);
    return range;
}

// How many bytes of two runs are equal before the first that counts and differs.
std::size_t equal_before(const StateRing& ring, const SyncDifference& difference) noexcept {
    const auto shown =
        static_cast<std::size_t>(std::min<std::uint64_t>(difference.bytes, difference.first.size()));
    std::size_t same = 0;
    const auto differs = [&](std::size_t at) {
        return difference.first[at] != difference.second[at] && !ring.is_masked(difference.offset + at);
    };
    while (same + 1 < shown && !differs(same))
        ++same;
    return same;
}

void read_both(const TickView& first, const TickView& second, SyncDifference& difference) noexcept {
    const auto shown =
        static_cast<std::size_t>(std::min<std::uint64_t>(difference.bytes, difference.first.size()));
    difference.first = {};
    difference.second = {};
    (void)first.read(difference.offset, std::span(difference.first).first(shown));
    (void)second.read(difference.offset, std::span(difference.second).first(shown));
}

// The first range that differs and counts, with where it is and what it was.
void describe_bytes(const StateRing& ring, const TickView& first, const TickView& second,
                    SyncDifference& difference) noexcept {
    StateRing::changed(first, second, [&](ChangedRange range) {
        if (difference.page_known) return;
        range = counting_part(ring, range, difference.kind);
        if (range.bytes == 0) return;
        difference.page_known = true;
        difference.offset = range.offset;
        difference.bytes = range.bytes;
        difference.page = static_cast<std::uint32_t>(range.offset >> kStatePageShift);
    });
    if (!difference.page_known) return;
    for (const Segment& segment : ring.segments())
        if (difference.offset - segment.offset < segment.bytes) difference.segment = segment.name_text;
    read_both(first, second, difference);
    // Ranges are of whole words.
    const std::size_t same = equal_before(ring, difference);
    difference.offset += same;
    difference.bytes -= same;
    read_both(first, second, difference);
}

// Goes back, with the first run kept aside where that can be paid for.
Expected<KeptFuture> go_back(StateRing& ring, Tick tick) noexcept {
    const auto future = ring.branch(tick);
    if (future ||
        (future.status() != Status::budget_exceeded && future.status() != Status::capacity_exhausted))
        return future;
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
    const auto future = go_back(ring, start);
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
    }
    if (!future->is_null()) (void)ring.drop(*future);
    if (status != Status::ok) return status;
    return outcome;
}

}  // namespace ouro
