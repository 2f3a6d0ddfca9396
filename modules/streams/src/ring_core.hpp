#pragma once

#include "future_store.hpp"
#include "hash_masks.hpp"
#include "history_packer.hpp"
#include "lease_table.hpp"
#include "outside_ranges.hpp"
#include "packed_store.hpp"
#include "pinned_version.hpp"
#include "read_gate.hpp"
#include "ring_sizes.hpp"
#include "slot_readers.hpp"
#include "slot_store.hpp"
#include "tick_log.hpp"
#include "timeline.hpp"
#include "unpacked_pages.hpp"
#include "version_index.hpp"
#include "write_finder.hpp"

#include <ouro/base/expected.hpp>
#include <ouro/jobs/parallel_for.hpp>
#include <ouro/streams/live_image.hpp>
#include <ouro/streams/state_ring.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <span>

namespace ouro::detail {

// What a StateRing is, at an address that stays, for its readers hold on to it.
class RingCore {
public:
    // bad_argument, budget_exceeded when the bound is too small, or size_overflow when any is.
    [[nodiscard]] static Expected<RingSizes> measure(const StateRingOptions& options, std::uint32_t pages,
                                                     RingRefusal& why) noexcept;
    // The smallest bound that is not.
    [[nodiscard]] static Expected<std::uint64_t> least_bytes(const StateRingOptions& options,
                                                             std::uint32_t pages, RingRefusal& why) noexcept;
    // The highest number that a tick can have: what is added to it for a while stays below 2^32.
    static constexpr std::uint32_t kLastTick = UINT32_MAX - 4 * HistoryPacker::kMaxGroup;

    explicit RingCore(LiveImage&& image) noexcept : image_(std::move(image)) {}
    RingCore(const RingCore&) = delete;
    RingCore& operator=(const RingCore&) = delete;
    ~RingCore();

    // Takes over zeros of RingSizes::bytes, behind the core itself, and makes tick 0.
    Status start(const StateRingOptions& options, const RingSizes& sizes, MemoryBlock memory,
                 RingRefusal& why) noexcept;

    // The object that callers have, which may be moved while this stays.
    void belongs_to(StateRing& owner) noexcept { owner_ = &owner; }
    [[nodiscard]] StateRing& owner() const noexcept { return *owner_; }

    [[nodiscard]] const LiveImage& image() const noexcept { return image_; }
    [[nodiscard]] DirtyMap marks() const noexcept { return marks_; }
    [[nodiscard]] std::uint32_t newest() const noexcept { return timeline_.newest(); }
    [[nodiscard]] std::uint32_t oldest() const noexcept { return oldest_.load(std::memory_order_acquire); }

    Expected<Tick> commit() noexcept;
    Status rollback(Tick tick) noexcept;
    Expected<KeptFuture> branch(Tick tick) noexcept;
    Status drop(KeptFuture future) noexcept;
    // As StateRing::restore.
    using StepFunction = void (*)(void* function, Tick tick);
    Status restore(StateRing& ring, Tick tick, StepFunction step, void* function) noexcept;
    [[nodiscard]] Expected<Tick> nearest(Tick tick) const noexcept;
    [[nodiscard]] Expected<TickView> view(Tick tick) noexcept;
    [[nodiscard]] Expected<TickView> view(KeptFuture future, Tick tick) noexcept;
    [[nodiscard]] Expected<std::uint64_t> hash(Tick tick, SegmentKind kind) const noexcept;
    // As StateRing's functions of these names.
    Status keep_outside(std::string_view segment, MemoryBlock outside, std::string_view name) noexcept;
    [[nodiscard]] OutsideRanges& outside() noexcept { return outside_; }
    Status tell_owners(std::string_view segment, SegmentOwnerFunction find) noexcept;
    [[nodiscard]] Expected<ImageOwner> told_owner(std::uint64_t offset) const noexcept;
    Status mask(const void* address, std::size_t bytes) noexcept;
    Status unmask(const void* address, std::size_t bytes) noexcept;
    [[nodiscard]] const HashMasks& masks() const noexcept { return masks_; }
    // Before commit(), and after going back.
    void save_outside() noexcept { outside_.save(image_, marks_); }
    void follow_back(std::uint32_t tick) noexcept;
    [[nodiscard]] StateRingStats stats() const noexcept;
    // For the list of blocks: pages of the image that ever held something, and all of the history but its
    // free slots.
    [[nodiscard]] std::size_t image_use() const noexcept {
        return std::size_t{touched_pages_.load(std::memory_order_relaxed)} << kStatePageShift;
    }
    [[nodiscard]] std::size_t history_use() const noexcept {
        return static_cast<std::size_t>(stats_.history_bytes) -
               (std::size_t{slots_.unused_count()} << kStatePageShift);
    }
    void note_image_use() noexcept { image_.note_use(image_use()); }
    [[nodiscard]] Status check() noexcept;

    // Null: commits are not verified.
    [[nodiscard]] CommitVerifier* verifier() const noexcept { return verifier_; }
    // Of each page, in short, what was wrong with it when it was last verified; zero: nothing.
    [[nodiscard]] std::span<std::uint64_t> verified_pages() const noexcept { return verified_pages_; }
    // As the newest tick has it.
    [[nodiscard]] const std::byte* newest_page(std::uint32_t page) const noexcept {
        return whole_page(index_.newest_slot(page));
    }

    // As StateRing::changed.
    using ChangedFunction = void (*)(void* function, ChangedRange range);
    static void changed(const TickView& from, const TickView& to, ChangedFunction visit,
                        void* function) noexcept;

    // For views.
    [[nodiscard]] const std::byte* page_at(std::uint32_t page, std::uint32_t cell) noexcept;
    // Whether two leases see one version of the page; false when that is not known.
    [[nodiscard]] bool is_same_version(std::uint32_t page, std::uint32_t one,
                                       std::uint32_t other) const noexcept;
    [[nodiscard]] std::uint32_t slot_at(std::uint32_t page, std::uint32_t cell) const noexcept;
    [[nodiscard]] std::uint32_t find_slot(std::uint32_t page, LeaseTable::Lease at) const noexcept;
    void end_view(std::uint32_t cell) noexcept;

private:
    [[nodiscard]] static Expected<RingSizes> begin_sizes(const StateRingOptions& options, std::uint32_t pages,
                                                         RingRefusal& why) noexcept;
    [[nodiscard]] static std::uint64_t least_slots(const StateRingOptions& options,
                                                   const RingSizes& sizes) noexcept;
    [[nodiscard]] static std::uint64_t most_slots(const RingSizes& sizes) noexcept;
    [[nodiscard]] static std::uint64_t present_slots(const RingSizes& sizes) noexcept;
    [[nodiscard]] static std::uint64_t useful_slots(const StateRingOptions& options,
                                                    const RingSizes& sizes) noexcept;
    [[nodiscard]] static Status check_least(const StateRingOptions& options, const RingSizes& sizes,
                                            RingRefusal& why) noexcept;
    static void divide(const StateRingOptions& options, std::uint64_t slots, RingSizes& sizes) noexcept;
    void carve(Carver& carver, const RingSizes& sizes) noexcept;
    [[nodiscard]] Status status_of(Tick tick) const noexcept;
    [[nodiscard]] const std::byte* whole_page(std::uint32_t slot) const noexcept;
    [[nodiscard]] const std::byte* unpack_at(std::uint32_t page, std::uint32_t cell) noexcept;
    [[nodiscard]] const std::byte* try_unpack(std::uint32_t page, std::uint32_t cell) noexcept;
    [[nodiscard]] bool set_aside(std::uint32_t cell, std::uint32_t pages) noexcept;
    void collect() noexcept;

    // Commit.
    void make_room(std::uint32_t changes) noexcept;
    void give_up_oldest() noexcept;
    void give_up_unpacked() noexcept;
    void give_up_pinned(const TickChanges& changes, std::uint32_t until) noexcept;
    void pin(const PinnedVersion& version) noexcept;
    void release_pins() noexcept;
    // Copies pages into slots, and calls with the number of each in the list, by whoever copies it.
    template <class Note>
    TickHashes capture(std::span<const std::uint32_t> pages, std::span<const std::uint32_t> slots,
                       Note&& note) noexcept;
    template <class Note>
    TickHashes capture_some(std::span<const std::uint32_t> pages, std::span<const std::uint32_t> slots,
                            IndexRange part, Note&& note) noexcept;
    TickHashes capture_only(std::span<const std::uint32_t> pages,
                            std::span<const std::uint32_t> slots) noexcept;
    // Publishes too.
    void commit_whole(std::span<const std::uint32_t> pages) noexcept;
    // The lines that were written, or the page where that is simpler; publishes too.
    void commit_fine(std::span<const std::uint32_t> pages) noexcept;
    std::uint32_t sort_out_fine(std::span<const std::uint32_t> pages) noexcept;
    TickHashes capture_lines(std::span<const std::uint32_t> pages) noexcept;
    [[nodiscard]] std::uint32_t keep_lines(std::uint32_t page, Version old, std::uint64_t lines) noexcept;
    [[nodiscard]] std::uint32_t put_line_record(const PackedRecord& record, const std::byte* bytes) noexcept;
    void prefetch_lines(std::span<const std::uint32_t> pages, std::size_t at) const noexcept;
    void forget_lines(std::span<const std::uint32_t> pages) noexcept;
    // Of the bytes that are kept in the slot.
    void rehash(std::uint32_t page, const std::byte* bytes, std::uint64_t old_hash, std::uint32_t slot,
                TickHashes& change) noexcept;
    void publish(std::span<const std::uint32_t> pages, std::span<const std::uint32_t> slots,
                 TickHashes hashes) noexcept;
    [[nodiscard]] TickHashes last_hashes() const noexcept {
        return log_.count() == 0 ? TickHashes{} : log_.hashes(log_.newest());
    }
    [[nodiscard]] std::uint32_t needed_tick() const noexcept {
        return leases_.is_any_held() ? leases_.oldest_or(oldest()) : oldest();
    }
    void finish_tick(TickHashes before, TickHashes change, std::uint32_t fresh_pages) noexcept;
    void note_change(const TickChanges& changes, std::size_t at, std::uint32_t page, std::uint32_t slot,
                     std::uint32_t previous) const noexcept {
        changes.pages[at] = page;
        if (packs_) return;
        changes.slots[at] = slot;
        changes.previous[at] = previous;
    }
    void add_version(std::uint32_t page, Version version, std::uint32_t needed_tick) noexcept;
    // Whether a version of tick `from`, replaced at `until`, is read by anybody.
    [[nodiscard]] bool is_read(std::uint32_t page, std::uint32_t from, std::uint32_t until,
                               std::uint8_t future = 0) const noexcept;
    [[nodiscard]] bool needs_base(std::uint8_t future, std::uint32_t page) const noexcept;

    // Whether a tick that is kept has this version of the present timeline, replaced at `until` or never.
    [[nodiscard]] bool is_kept(std::uint32_t from, std::uint32_t until) const noexcept;

    // Packing: on the thread that commits.
    struct OldestTicks {
        std::uint32_t first;
        std::uint32_t next;
        std::span<const std::uint32_t> pages;
    };
    [[nodiscard]] OldestTicks oldest_ticks() const noexcept;
    void give_up_packed() noexcept;
    void give_up_version(std::uint32_t page, const VersionIndex::Located& version, bool is_any_held) noexcept;
    void make_room_to_pack(std::uint32_t changes) noexcept;
    void begin_packing() noexcept;
    void run_packer(JobPool* jobs) noexcept;
    void close_gate() noexcept;
    void open_gate() noexcept;
    void ask_packing() noexcept;
    void take_packed() noexcept;
    void move_versions(std::span<const HistoryPacker::Result> results) noexcept;
    // Ends what is under way, and takes what came of it.
    void settle() noexcept;
    // The same, but that nothing is thinned out by it.
    void settle_to_go_back() noexcept;
    void free_word(std::uint32_t word) noexcept;
    // Unpacks a version, which is about to go, for whoever reads it.
    void unpack_for_readers(std::uint32_t page, Version version, std::uint32_t until) noexcept;
    // What a reader that unpacks a page found out first: who it is, and where in the history it looks.
    struct Unpacker {
        std::uint32_t number;
        std::uint32_t turn;
        std::uint8_t future;
    };
    // Null, or false, when the history was changed meanwhile.
    [[nodiscard]] const std::byte* unpack_beside(std::uint32_t page, std::uint32_t word, std::uint32_t cell,
                                                 const Unpacker& reader) noexcept;
    [[nodiscard]] bool read_packed_beside(std::uint32_t page, std::uint32_t word, const Unpacker& reader,
                                          std::byte* out) noexcept;
    // For the thread that commits: unpacks what readers asked for.
    void serve_readers() noexcept;
    void unpack_for(std::uint32_t cell, std::uint32_t page) noexcept;
    void read_packed(std::uint32_t page, std::uint32_t word, std::byte* out,
                     std::uint8_t future = 0) const noexcept;
    [[nodiscard]] std::uint32_t find_base(std::uint8_t future, std::uint32_t page,
                                          std::uint32_t tick) const noexcept;
    // Whether these bytes are what was packed, and of this page: by their hash, where it is known.
    [[nodiscard]] bool is_record_of(std::uint32_t page, const PackedRecord& record,
                                    const std::byte* bytes) const noexcept;

    // Thinning.
    [[nodiscard]] bool thins() const noexcept { return thin_every_ != 0; }
    [[nodiscard]] std::uint32_t next_group_end() const noexcept;
    void begin_thinned() noexcept;
    void make_room_to_thin() noexcept;
    void ask_thinning() noexcept;
    [[nodiscard]] bool make_room_for_group() noexcept;
    void finish_thinning() noexcept;
    void thin_out(std::uint32_t page, std::uint32_t kept, std::uint32_t last, bool is_any_held) noexcept;
    void note_hashes(std::uint32_t first, std::uint32_t last) noexcept;

    // Rollback.
    std::uint8_t go_back(std::uint32_t tick, bool keeps, std::uint32_t reserved_pages) noexcept;
    std::uint32_t list_changed_since(std::uint32_t tick) noexcept;
    void restore(std::span<const std::uint32_t> pages) noexcept;
    void restore_some(std::span<const std::uint32_t> pages, std::span<const std::uint32_t> next) noexcept;
    void forget_verified(std::span<const std::uint32_t> pages) noexcept;
    void forget_since(std::uint32_t tick, std::span<const std::uint32_t> pages) noexcept;
    void forget_some(std::uint32_t tick, std::span<const std::uint32_t> pages) noexcept;
    void move_to_future(std::uint8_t future, std::uint32_t tick,
                        std::span<const std::uint32_t> pages) noexcept;
    void move_page(std::uint8_t future, std::uint32_t tick, std::uint32_t page) noexcept;
    void prefetch_version(std::uint32_t slot) const noexcept;
    void prefetch_noted(std::uint32_t page, std::uint32_t slot) const noexcept;
    void cut_off(std::uint32_t page, std::uint32_t tick) noexcept;
    void note_cut(std::uint32_t page) noexcept;
    void go_back_packed(std::uint8_t future, std::uint32_t tick,
                        std::span<const std::uint32_t> pages) noexcept;
    void forget_packed(std::uint32_t tick, std::span<const std::uint32_t> pages) noexcept;
    void move_packed(std::uint8_t future, std::uint32_t page, Version version, std::uint32_t until) noexcept;
    void unpack_at_tick(std::uint32_t tick, std::span<const std::uint32_t> pages, bool in_place) noexcept;
    [[nodiscard]] std::uint32_t unwind(std::uint32_t page, std::uint32_t word) noexcept;
    void unpack_newest(std::span<const std::uint32_t> pages) noexcept;
    [[nodiscard]] bool is_pinned(std::uint32_t page, Version version) const noexcept;
    void drop_pins_behind(std::uint32_t tick, std::uint8_t future) noexcept;
    void rewind_log(std::uint32_t tick) noexcept;
    void drop_futures() noexcept;
    // Gives up what futures have of ticks that nobody reads any more; false when there is none.
    bool trim_futures() noexcept;
    // One slot or more becomes free.
    void free_slots() noexcept;
    [[nodiscard]] std::uint8_t begin_future(std::uint32_t fork_tick, std::uint32_t last_tick,
                                            bool keeps) noexcept;
    void join_futures() noexcept;
    [[nodiscard]] std::uint8_t only_child_of(std::uint8_t future) const noexcept;
    [[nodiscard]] std::uint64_t changes_since(std::uint32_t tick) const noexcept;
    // Calls with the pages of each kept tick behind this one.
    template <class Visit>
    void visit_since(std::uint32_t tick, Visit&& visit) const noexcept {
        if (thins() && thinned_.count() != 0)
            for (std::uint32_t group = thinned_.oldest(); group <= thinned_.newest(); ++group)
                if (group * thin_every_ > tick) visit(thinned_.changes(group).pages);
        for (std::uint32_t each = std::max(tick + 1, log_.oldest()); each <= log_.newest(); ++each)
            visit(log_.changes(each).pages);
    }

    [[nodiscard]] bool sees_once(std::uint32_t slot, std::uint64_t& count) noexcept;
    [[nodiscard]] bool sees_page(std::uint32_t page, std::uint64_t& count) noexcept;
    [[nodiscard]] bool is_readable(std::uint32_t page, Version version) const noexcept;

    // Calls with parts of 0 to count, on the workers where it is worth their while.
    template <class Work>
    void share_out(std::size_t count, Work&& work) noexcept {
        if (!is_shared_out(count)) return work(std::size_t{0}, count);
        parallel_for(*jobs_, count, kChunkPages, work);
    }
    [[nodiscard]] bool is_shared_out(std::size_t count) const noexcept {
        return jobs_ != nullptr && count >= kSharedPages;
    }
    static constexpr std::uint8_t kNotFine = HistoryPacker::kNotFine;
    static constexpr std::size_t kSharedPages = 256;
    static constexpr std::size_t kChunkPages = 64;

    [[nodiscard]] std::byte* live(std::uint32_t page) const noexcept {
        return image_.block().data + (std::size_t{page} << kStatePageShift);
    }
    [[nodiscard]] std::uint64_t offset_of(const void* address) const noexcept {
        return static_cast<std::uint64_t>(static_cast<const std::byte*>(address) - image_.block().data);
    }

    StateRing* owner_ = nullptr;
    LiveImage image_;
    DirtyMap marks_;
    // How often the marks were taken; from one, so that zero is never an epoch.
    std::uint64_t drains_ = 1;
    WriteFinder finder_;
    SlotStore slots_;
    TickLog log_;
    VersionIndex index_;
    LeaseTable leases_;
    FutureStore futures_;
    std::uint32_t trimmed_at_ = 0;  // LeaseTable::future_ends of then
    OutsideRanges outside_;
    HashMasks masks_;
    // Room for the number of every page.
    std::span<std::uint32_t> scratch_;
    // For a commit: the changes that need another block of the index.
    std::span<std::uint32_t> later_;
    std::span<std::uint8_t> kinds_;
    std::span<DirtyMap::Byte> page_marks_;
    std::span<DirtyMap::Byte> group_marks_;
    // Of fine segments: what is marked in each page, how many versions running are differences of lines, and
    // for a commit the lines, the slots and the whole pages among those that changed.
    std::span<DirtyMap::Byte> line_marks_;
    std::span<std::uint8_t> line_runs_;
    std::span<std::uint64_t> lines_;
    std::span<std::uint32_t> line_slots_;
    std::span<std::uint32_t> whole_pages_;
    PackedStore::End line_end_;
    bool fine_ = false;
    // Versions that only readers still need.
    std::span<PinnedVersion> pins_;
    std::uint32_t pin_count_ = 0;
    CommitVerifier* verifier_ = nullptr;
    std::span<std::uint64_t> verified_pages_;
    // For check(): one for each slot.
    std::span<std::uint8_t> seen_;
    // How many pages have a version.
    std::atomic<std::uint32_t> touched_pages_ = 0;
    std::atomic<std::uint32_t> oldest_ = 0;
    Timeline timeline_;
    PackedStore packed_;
    // While it goes back: where a version of each changed page is now.
    std::span<std::uint32_t> unwound_;
    UnpackedPages unpacked_;
    SlotReaders readers_;
    ReadGate gate_;
    std::uint32_t gate_depth_ = 0;
    // The cells that the thread that commits holds while the gate is closed, one bit each.
    std::uint32_t held_cells_ = 0;
    // By cell: a page that a reader could not unpack, plus one; and whether there is any.
    std::array<std::atomic<std::uint32_t>, LeaseTable::kReaderCells> wanted_{};
    std::atomic<bool> is_any_wanted_ = false;
    HistoryPacker packer_;
    // The thinned-out history: a tick of it is a group of `thin_every_` ticks, of which the last is kept.
    TickLog thinned_;
    std::span<TickHashes> thinned_hashes_;
    std::uint32_t thin_every_ = 0;
    std::uint32_t whole_ticks_ = 0;
    std::uint32_t dense_ticks_ = 0;
    // Packed so far: what the ticks before this one replaced, and of this one what is before this page.
    std::uint32_t pack_tick_ = 1;
    std::uint32_t pack_page_ = 0;
    // Versions that were replaced at or behind this tick are whole pages.
    std::atomic<std::uint32_t> packed_before_ = 0;
    // From here on no tick was thinned out.
    std::atomic<std::uint32_t> whole_from_ = 0;
    bool packs_ = false;
    bool hashes_ = true;
    JobPool* jobs_ = nullptr;
    StateRingStats stats_;
    // In the order of the segments.
    std::array<SegmentOwnerFunction, kMaxSegments> owner_functions_{};
};

// Compares the image with the tick that was just committed, and tells the ring's verifier. Requires: it has
// one.
void verify_commit(const StateRing& ring, const RingCore& core) noexcept;

}  // namespace ouro::detail
