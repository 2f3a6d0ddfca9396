#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/base/memory_block.hpp>
#include <ouro/base/offset_ptr.hpp>
#include <ouro/jobs/job_pool.hpp>
#include <ouro/memory/tag.hpp>
#include <ouro/streams/detail/history_memory.hpp>
#include <ouro/streams/detail/reset_on_move.hpp>
#include <ouro/streams/dirty_map.hpp>
#include <ouro/streams/image_owner.hpp>
#include <ouro/streams/kept_future.hpp>
#include <ouro/streams/ring_refusal.hpp>
#include <ouro/streams/segment.hpp>
#include <ouro/streams/tick_view.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

namespace ouro {

class CommitVerifier;
class MemoryTable;
struct ImageSource;

struct StateRingOptions {
    std::span<const SegmentOptions> segments = {};
    // How many ticks before the newest can be gone back to.
    std::uint32_t history_ticks = 600;
    // All that the history may ever take, its index included, to the end of its last page. Must hold every
    // page of the image twice, what readers may pin, and with packing or a fine segment unpacked_bytes:
    // StateRing::least_history_bytes() says how much that is.
    std::uint64_t history_bytes = std::uint64_t{1} << 30;
    // Of these, how much readers of old ticks may keep from being given up; zero: half of what is left
    // when every page is held twice, or all that the ticks themselves cannot use, if that is more.
    std::uint64_t reader_bytes = 0;
    // Packs versions that were replaced more than `dense_ticks` ago, as what they differ in from the next
    // one: far more ticks fit into the bytes, and reading or going back to old ones takes longer. Workers do
    // it where there are `jobs`; else it is done at the end of each commit. The bytes must then also hold
    // what readers of packed ticks have unpacked.
    bool packing = false;
    std::uint32_t dense_ticks = 32;
    // Of packed ticks, how much readers may have unpacked at once; zero: two whole images.
    std::uint64_t unpacked_bytes = 0;
    // Behind `history_ticks`, so many more of which only those are kept whose number is a multiple of
    // `thin_every` (2 to 256); see StateRing::restore. Only with packing.
    std::uint32_t thinned_ticks = 0;
    std::uint32_t thin_every = 0;
    // Whether each commit brings the hash of the state up to date.
    bool hashes = true;
    // Asks for huge pages under the history, where each tick goes to many places; never under the image,
    // whose writes are tracked by page. Without them all works the same.
    bool huge_pages = true;
    // Brings the whole history into memory at creation. Otherwise each part of it costs a page fault when it
    // is used for the first time.
    bool prefaults = false;
    // Workers that help to copy and hash when a tick changed much; null: the caller does it alone. What comes
    // out is the same. The pool outlives the ring.
    JobPool* jobs = nullptr;
    // Has each commit verified: the whole image is compared, and what is wrong is told and kept. For debug
    // builds and tests; null: nothing is compared, and nothing of it is paid for. It outlives the ring.
    CommitVerifier* verifier = nullptr;
    // Where the image shall lie, or null for anywhere.
    void* address = nullptr;
    // Instead of addresses of its own, two streams of this table, one for the image and one for the history.
    // The table outlives the ring, and says which stream was refused what. Not together with an address.
    MemoryTable* table = nullptr;
    // What the image is called in the table of blocks; the history is "<name>: history".
    std::string_view name = "state";
    // Untagged stands for kStateTagName.
    Tag tag = {};
};

// Bytes that differ between two ticks: whole words of eight.
struct ChangedRange {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
};

struct StateRingStats {
    std::uint64_t commits = 0;
    std::uint64_t rollbacks = 0;
    std::uint64_t pages_captured = 0;
    std::uint64_t pages_restored = 0;
    std::uint64_t ticks_given_up = 0;
    // How often the system's tracker could not say what was written in a segment, which was compared with the
    // last tick instead: nothing is lost by it but time.
    std::uint64_t failed_scans = 0;
    // Of the last commit.
    std::uint32_t last_pages = 0;
    std::uint32_t slots = 0;
    std::uint32_t free_slots = 0;
    std::uint32_t pinned_slots = 0;
    std::uint64_t history_bytes = 0;
    // Changes of pages, tick by tick, that there is room for, and for how many more. Without thinned ticks.
    std::uint64_t versions = 0;
    std::uint64_t free_versions = 0;
    // Versions that are packed, and what they take.
    std::uint64_t packed_versions = 0;
    std::uint64_t packed_bytes = 0;
};

class StateRing;

// Where a ring is, as long as there is one.
class StateRingPlace {
public:
    [[nodiscard]] StateRing& ring() const noexcept;

private:
    friend StateRing;
    explicit StateRingPlace(const detail::RingCore& core) noexcept : core_(&core) {}

    const detail::RingCore* core_;
};

// All mutable state of a simulation, of which every tick can be read again and gone back to, at a cost close
// to copying what changed.
//
//     const SegmentOptions world{.name = "world", .bytes = 64 << 20};
//     auto ring = StateRing::create({.segments = {&world, 1}});
//     ... write into ring->segment_block("world"), and ring->mark(address, bytes) what was written
//     const auto tick = ring->commit();          // Expected<Tick>
//     ... simulate and commit on
//     const auto done = ring->rollback(*tick);   // byte for byte as it was
//     const auto past = ring->view(*tick - 5);   // read it, from any thread
//
// One thread at a time commits and rolls back, while nobody writes to the image or marks. Between, any number
// of threads write and mark at once. Views are taken, read and compared on any thread at any time, which may
// also ask for newest(), oldest() and nearest(); what changes anything, hash(), stats() and check() are for
// the thread that commits. After creation nothing is allocated any more.
class StateRing {
public:
    // Fails as LiveImage::create does, with bad_argument (no ticks to keep, or far too many, no such
    // thinning), budget_exceeded (history_bytes are too few for this image), size_overflow (what readers may
    // pin is more than any history has) or out_of_memory; from a table
    // also with capacity_exhausted (no room for the image or the history) or sealed. Nothing is left behind
    // then. What exactly was wrong, and by how much, is said in the refusal, where one is given:
    //
    //     RingRefusal refusal;
    //     auto ring = StateRing::create(options, &refusal);
    //     if (!ring) return complain(describe_refusal(refusal, text));
    [[nodiscard]] static Expected<StateRing> create(const StateRingOptions& options,
                                                    RingRefusal* refusal = nullptr) noexcept;

    // The least that history_bytes can be with all other options as they are: every page twice, what readers
    // may pin and have unpacked, and the index. Fails as create does because of these options.
    [[nodiscard]] static Expected<std::uint64_t> least_history_bytes(const StateRingOptions& options,
                                                                     RingRefusal* refusal = nullptr) noexcept;

    constexpr StateRing() noexcept = default;
    // Views, heaps and worlds of it stay valid.
    StateRing(StateRing&& other) noexcept;
    StateRing& operator=(StateRing&& other) noexcept;
    // Requires: no view of it is left (assert). Of a ring that was moved from, or that nobody made, nothing
    // else may be called (assert), but mark(), which is out_of_range.
    ~StateRing();

    // By which whoever keeps a ring for long finds it wherever it was moved to.
    [[nodiscard]] StateRingPlace place() const noexcept;

    [[nodiscard]] MemoryBlock image() const noexcept;
    // Of the image's memory, for a reader in another process (ImageMapping); -1 where it has none.
    [[nodiscard]] int image_descriptor() const noexcept;
    [[nodiscard]] OffsetBase base() const noexcept;
    [[nodiscard]] std::span<const Segment> segments() const noexcept;
    // not_found.
    [[nodiscard]] Expected<MemoryBlock> segment_block(std::string_view name) const noexcept;

    // Declares that these bytes of the image were or will be written before the next commit; out_of_range
    // when they are not all in it. Needed in segments with declared tracking, harmless elsewhere.
    Status mark(const void* address, std::size_t bytes) noexcept { return marks_.get().mark(address, bytes); }
    // A handle for code that marks by itself; good as long as the ring lives.
    [[nodiscard]] DirtyMap marks() const noexcept { return marks_.get(); }

    [[nodiscard]] Tick newest() const noexcept;
    [[nodiscard]] Tick oldest() const noexcept;

    // Ends the tick: keeps what changed, and returns the number of the tick that is now complete. Ticks that
    // the bounds leave no room for are given up, oldest first. Fails only with capacity_exhausted, after some
    // 2^32 ticks, and then the last tick is as it was. A tracker that fails keeps nobody from it: see
    // StateRingStats::failed_scans.
    Expected<Tick> commit() noexcept;

    // The image is as it was when that tick was committed; later ticks are gone. That of the newest undoes
    // what was written since. Fails with tick_gone (before the oldest), tick_thinned or out_of_range (after
    // the newest): then nothing has changed. Never because of readers: those of the ticks that go read on.
    Expected<void> rollback(Tick tick) noexcept;

    // The newest kept tick at or before this one: another where it was thinned out. tick_gone or
    // out_of_range.
    [[nodiscard]] Expected<Tick> nearest(Tick tick) const noexcept;

    // Goes to any tick since the oldest. One that was thinned out is simulated again from the nearest before
    // it: `step(tick)` simulates the tick of that number, inputs included, without committing it. With hashes
    // each of these is compared with what it was the first time: diverged when it is another, and the image
    // is as it came out, which is the newest tick then. A step that commits or goes back by itself is a
    // bad_argument, and the rest is not simulated. Either way the later ticks are gone, as after rollback():
    // whoever wants to keep them branches off first. Fails as nearest() does, with nothing changed.
    template <class Step>
    Expected<void> restore(Tick tick, Step&& step) noexcept {
        using Function = std::remove_reference_t<Step>;
        return restore_erased(
            tick, [](void* function, Tick each) { (*static_cast<Function*>(function))(each); },
            const_cast<void*>(static_cast<const void*>(&step)));
    }

    // Goes back as rollback does, and keeps the ticks behind as a future that can be read and compared until
    // it is dropped. There must be such ticks: the newest is out_of_range here, and what was written since
    // stays. What it takes counts against reader_bytes, as a view does and with every page that those ticks
    // captured: budget_exceeded when that is too little, capacity_exhausted when 48 futures are kept (of a
    // packed history also those count that were dropped and that others which are read or kept began from),
    // and nothing has changed then.
    Expected<KeptFuture> branch(Tick tick) noexcept;
    // stale_handle when it is gone already. Views of it stay good.
    Expected<void> drop(KeptFuture future) noexcept;
    // A tick of a kept future. Fails with stale_handle, out_of_range (not a tick of it), and as
    // view does.
    [[nodiscard]] Expected<TickView> view(KeptFuture future, Tick tick) const noexcept;

    // A past tick for reading; see TickView. Until it ends it counts against reader_bytes with every page of
    // the image that was ever written, however few a tick changes; views of one tick count once. Fails with
    // tick_gone, tick_thinned, out_of_range, capacity_exhausted (too many ticks are read at once) or
    // budget_exceeded (reader_bytes, or unpacked_bytes).
    [[nodiscard]] Expected<TickView> view(Tick tick) const noexcept;

    // The hash of the portable segments, or of the process-bound ones, at a tick. not_supported when hashes
    // are off; tick_gone or out_of_range. Ticks that were thinned out have theirs too. On the thread that
    // commits.
    [[nodiscard]] Expected<std::uint64_t> hash(Tick tick,
                                               SegmentKind kind = SegmentKind::portable) const noexcept;

    // Memory outside the image that belongs to the state, such as the variables of a library: each commit
    // copies what changed in it into the segment, which is for this alone, and going back puts it back. A
    // tick before this call does not have it, and going back there leaves it alone. The ranges must stay
    // until they are released. Fails with bad_address (null, or in the image), zero_size, size_overflow,
    // address_in_use (overlaps one that is kept), not_found (no such segment), bad_argument (it is portable),
    // capacity_exhausted (it is full, or too many ranges). Reports call it by the name. On the thread that
    // commits, as all of these.
    Expected<void> keep_outside(std::string_view segment, MemoryBlock outside,
                                std::string_view name = {}) noexcept;
    // not_found.
    Expected<void> release_outside(MemoryBlock outside) noexcept;
    // Where in the image the copy of a byte outside is, for views and masks; not_found.
    [[nodiscard]] Expected<std::uint64_t> outside_offset(const void* address) const noexcept;
    // The other way round: what lies outside of which this byte of the image is a copy; not_found.
    [[nodiscard]] Expected<ImageOwner> outside_at(std::uint64_t offset) const noexcept;

    // From now on find_owner() asks this function about the bytes of a segment, before it looks for itself;
    // null: nobody is asked. One for each segment: a World that is created or attached puts its own in the
    // place of any that was there. not_found. On the thread that commits.
    Expected<void> tell_owners(std::string_view segment, SegmentOwnerFunction find) noexcept;
    // What that function says; not_found when there is none, or it does not know.
    [[nodiscard]] Expected<ImageOwner> told_owner(std::uint64_t offset) const noexcept;

    // These bytes of the image count as zero in the hashes of the ticks committed from now on: clocks,
    // addresses of what lies elsewhere. They are kept and rolled back as before. Ticks committed before keep
    // the hashes they have, which the same ticks simulated again will not have. Fails with zero_size,
    // out_of_range, address_in_use (overlaps another mask) or capacity_exhausted.
    Expected<void> mask(const void* address, std::size_t bytes) noexcept;
    // not_found when no mask is exactly so.
    Expected<void> unmask(const void* address, std::size_t bytes) noexcept;
    [[nodiscard]] bool is_masked(std::uint64_t offset) const noexcept;

    // Calls with each ChangedRange in which two ticks really differ, in ascending order. Fails as view does.
    template <class Visit>
    Status changed(Tick from, Tick to, Visit&& visit) const noexcept {
        const auto before = view(from);
        if (!before) return before.status();
        const auto after = view(to);
        if (!after) return after.status();
        changed(*before, *after, visit);
        return Status::ok;
    }
    // The same for views that are there already, of a kept future too. Requires: both of this ring.
    template <class Visit>
    static void changed(const TickView& from, const TickView& to, Visit&& visit) noexcept {
        using Function = std::remove_reference_t<Visit>;
        changed_erased(
            from, to, [](void* function, ChangedRange range) { (*static_cast<Function*>(function))(range); },
            const_cast<void*>(static_cast<const void*>(&visit)));
    }

    [[nodiscard]] StateRingStats stats() const noexcept;
    // Walks the whole history: ok, or corrupt_data.
    [[nodiscard]] Status check() const noexcept;

private:
    // Writes past the trackers.
    friend Expected<Tick> read_image(StateRing& ring, ImageSource source) noexcept;

    using ChangedFunction = void (*)(void* function, ChangedRange range);
    static void changed_erased(const TickView& from, const TickView& to, ChangedFunction visit,
                               void* function) noexcept;
    using StepFunction = void (*)(void* function, Tick tick);
    Expected<void> restore_erased(Tick tick, StepFunction step, void* function) noexcept;
    Status start(const StateRingOptions& options, RingRefusal& why) noexcept;
    void end() noexcept;
    [[nodiscard]] detail::RingCore& core() const noexcept;
    void note_use() noexcept;

    detail::HistoryMemory memory_;
    detail::ResetOnMove<detail::RingCore*> core_;
    detail::ResetOnMove<DirtyMap> marks_;
};

}  // namespace ouro
