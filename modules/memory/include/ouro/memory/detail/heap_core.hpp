#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/base/memory_block.hpp>
#include <ouro/memory/detail/arrivals.hpp>
#include <ouro/memory/detail/block_assert.hpp>
#include <ouro/memory/detail/recent_peak.hpp>
#include <ouro/memory/detail/slab.hpp>
#include <ouro/memory/detail/thread_heap.hpp>
#include <ouro/memory/detail/unit_map.hpp>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace ouro::detail {

// What the threads of a small-object heap share: the units, their records, and the list of thread heaps. It
// lies at the front of the heap's metadata, so that it does not move when its owner does.
class HeapCore {
public:
    static constexpr std::size_t kNoHugePages = ~std::size_t{0};
    static constexpr std::size_t kHugeBytes = UnitMap::kHugeUnits * UnitMap::kUnitBytes;

    struct Layout {
        std::size_t units = 0;
        // Where the arrays begin in the metadata, each on pages of its own, and where they end.
        std::size_t kinds_offset = 0;
        std::size_t taken_offset = 0;
        std::size_t dirty_offset = 0;
        std::size_t slabs_offset = 0;
        std::size_t bitmaps_offset = 0;
        std::size_t arrivals_offset = 0;
        std::size_t bytes = 0;
    };

    struct Memory {
        // For messages.
        const char* name = nullptr;
        // Zero, and usable up to the layout's slabs_offset; all of it where the units cannot grow.
        MemoryBlock metadata;
        MemoryBlock units;
        // False: all units are usable, and there will be no more memory. True: none is yet, and the core
        // commits them with their share of the metadata.
        bool grows = true;
        // Beyond so many bytes, which grow, the system is asked for huge pages. Requires then: units that lie
        // at a multiple of kHugeBytes.
        std::size_t huge_from_bytes = kNoHugePages;
        // Told after every growth, and after units of blocks were taken or given back, by the thread that did
        // it; several may call at once. Both or none.
        void (*on_growth)(void* context) = nullptr;
        void (*on_use)(void* context) = nullptr;
        void* listing = nullptr;
    };

    // `owner_bytes` behind the core are the owner's.
    [[nodiscard]] static Layout layout_for(std::size_t units, std::size_t page_bytes,
                                           std::size_t owner_bytes = 0) noexcept;

    // Whether so many units have room for a thread's heap and a block.
    [[nodiscard]] static bool is_enough(std::size_t units) noexcept;

    // Blocks up to largest_small_bytes, raised to the size of a class, come from slabs; larger ones take
    // units. Requires: largest_small_bytes from 1 to kLargestClassBytes.
    HeapCore(const Memory& memory, const Layout& layout, std::size_t purge_threshold_bytes,
             std::size_t largest_small_bytes = kLargestClassBytes) noexcept;

    // Never the same twice in a process, whichever copy of the library made the core: a thread's note of its
    // heap cannot be taken for one of another core.
    [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
    // Of the heap, or null.
    [[nodiscard]] const char* name() const noexcept { return name_; }
    [[nodiscard]] const UnitMap& units() const noexcept { return units_; }
    // How many classes have slabs here, the smallest first. Caches of all others are full and empty for
    // ever, so that whoever asks them by the size of a block comes to ask here.
    [[nodiscard]] unsigned slab_classes() const noexcept { return slab_classes_; }
    // The class for a request, or kClassCount when it takes units. The same for every size that the block
    // may be freed with. Requires: as detail::class_for.
    [[nodiscard]] unsigned class_for(std::size_t size, std::size_t alignment) const noexcept {
        const unsigned size_class = detail::class_for(size, alignment);
        return size_class < slab_classes_ ? size_class : kClassCount;
    }
    [[nodiscard]] std::byte* address_of(const Slab& slab) const noexcept {
        return units_.address_of(static_cast<std::size_t>(&slab - slabs_));
    }
    // Whether blocks of the class that have bits in a word are out of their slab.
    [[nodiscard]] bool are_out(unsigned size_class, std::size_t word, std::uint64_t blocks) const noexcept;
    // Requires: units().owns(block).
    [[nodiscard]] Slab& slab_of(const void* block) const noexcept {
        Slab* const slab = slabs_ + units_.unit_of(block);
        return *(slab - slab->units_back.load(std::memory_order_relaxed));
    }
    // One a unit each.
    struct Records {
        Slab* slabs;
        SlabBitmap* bitmaps;
    };
    [[nodiscard]] Records records() const noexcept { return {slabs_, bitmaps_}; }
    [[nodiscard]] SlabBitmap& bitmap_of(const Slab& slab) const noexcept { return bitmaps_[&slab - slabs_]; }
    [[nodiscard]] Slab& slab_of(const Arrivals& arrivals) const noexcept {
        return slabs_[&arrivals - arrivals_];
    }
    // The words of all bitmaps have numbers: that of a slab's first word, the slab of a word, and the block
    // of the lowest of some bits in a word.
    [[nodiscard]] std::size_t first_word_of(const Slab& slab) const noexcept {
        return static_cast<std::size_t>(&slab - slabs_) * SlabBitmap::kWords;
    }
    [[nodiscard]] Slab& slab_of_word(std::size_t word) const noexcept {
        return slabs_[word / SlabBitmap::kWords];
    }
    [[nodiscard]] std::byte* block_at(unsigned size_class, std::size_t word,
                                      std::uint64_t bits) const noexcept {
        const std::size_t index =
            word % SlabBitmap::kWords * 64 + static_cast<unsigned>(std::countr_zero(bits));
        return units_.address_of(word / SlabBitmap::kWords) + index * kClassBytes[size_class];
    }
    // Requires: units().owns(address). `none` for what is not usable yet.
    [[nodiscard]] UnitKind kind_of(const void* address) const noexcept {
        const std::size_t unit = units_.unit_of(address);
        if (unit >= units_.usable_units()) return UnitKind::none;
        return kinds_[unit].load(std::memory_order_relaxed);
    }

    // Whether a block of the class begins there, free or not. For any address.
    [[nodiscard]] bool is_block(unsigned size_class, const void* address) const noexcept;

    // One a unit, `none` for those not usable yet. All of it can be read.
    [[nodiscard]] const std::atomic<UnitKind>* kinds() const noexcept { return kinds_; }

    // The calling thread's heap: found, adopted from a thread that has ended, or made. All there are may have
    // to be looked at, which a thread that knows that it has none saves. Fails as UnitMap::take does.
    enum class Search : unsigned char { all, none };
    [[nodiscard]] Expected<ThreadHeap*> heap_of_this_thread(Search search = Search::all) noexcept;
    // Lets others have the calling thread's heap: that one, or all it has.
    void abandon_heap(ThreadHeap& heap, std::uint64_t thread_id) noexcept;
    void abandon_heaps_of(std::uint64_t thread_id) noexcept;
    // A thread will end without leaving its heap: the next one with the same number finds it.
    void expect_left_heaps() noexcept { may_be_left_.store(true, std::memory_order_relaxed); }
    [[nodiscard]] bool may_be_left() const noexcept { return may_be_left_.load(std::memory_order_relaxed); }
    // In the child of a fork: heaps of threads that are not there any more become orphans, and units that
    // they were taking or returning are free.
    void abandon_heaps_except(std::uint64_t thread_id) noexcept;
    // Requires: a heap in state owned whose owner is gone and that nobody else holds.
    void make_orphan(ThreadHeap& heap) noexcept;
    // Lets whoever needs a slab next empty an orphan.
    void list_for_emptying(ThreadHeap& orphan) noexcept { orphan_lists_.add(kToEmpty, orphan); }

    [[nodiscard]] Expected<Slab*> make_slab(unsigned size_class, ThreadHeap& owner) noexcept;
    void release_slab(Slab& slab) noexcept;
    // Gives a heap the slabs with free blocks of the class whose threads have ended. Looks at those heaps
    // only that became orphans, got mail, or may have such a slab since somebody looked last.
    void adopt_slabs(unsigned size_class, ThreadHeap& heap) noexcept;

    // A block of the class goes to the queue of its owner: for a thread without a heap.
    void send_home(unsigned size_class, void* block) noexcept;
    // Blocks that have bits in a word go to the queue of their owner, without a parcel.
    void arrive(ThreadHeap& owner, unsigned size_class, std::size_t word, std::uint64_t blocks,
                std::uint32_t count) noexcept;
    void note_collected(unsigned size_class, std::uint32_t blocks) noexcept {
        arrived_blocks_[size_class].fetch_sub(blocks, std::memory_order_relaxed);
    }
    // Forgets all blocks and heaps, under a new id. Requires: nobody uses the core meanwhile, and no thread
    // that ends leaves its heap: see reset_live_core().
    void reset() noexcept;

    // Blocks of whole units. The sizes are those of the units. `reads_zero` may be null.
    [[nodiscard]] Expected<MemoryBlock> allocate_large(std::size_t size, std::size_t alignment,
                                                       bool* reads_zero) noexcept;
    void deallocate_large(std::byte* block) noexcept;
    void deallocate_emptied(std::byte* block) noexcept;  // Whose pages went elsewhere: it reads zero.
    // The same from and to what the calling thread keeps, which touches nothing that others write: null or
    // false when that cannot be, and nothing has happened.
    [[nodiscard]] MemoryBlock allocate_kept(std::size_t size, std::size_t alignment,
                                            ThreadHeap& heap) noexcept;
    [[nodiscard]] bool keep_large(std::byte* block, ThreadHeap& heap) noexcept;
    // In place only; null when it is not possible. What the calling thread keeps may serve: its heap, or
    // null.
    [[nodiscard]] MemoryBlock resize_large(std::byte* block, std::size_t new_size, ThreadHeap* heap) noexcept;
    [[nodiscard]] std::size_t large_size(const std::byte* block) const noexcept;

    // How many units a thread keeps at most; none where there are few, or where nothing shall be kept.
    [[nodiscard]] std::size_t most_kept_units() const noexcept { return most_kept_units_; }
    // Lets a thread keep so many units more, or as many as all threads together may still keep.
    [[nodiscard]] std::uint32_t let_keep(std::uint32_t units) noexcept;
    void let_others_keep(std::uint32_t units) noexcept {
        unpromised_units_.fetch_add(units, std::memory_order_relaxed);
    }
    // Whether it is worth to make a heap for a thread that frees a large block: not where units are few for
    // ever.
    [[nodiscard]] bool keeps_runs() const noexcept { return most_kept_units_ != 0 && units_.can_grow(); }
    // What a thread's heap writes in the records of units that are its own.
    void mark_kept(KeptRun run, unsigned place, ThreadHeap& keeper) noexcept;
    void mark_large(std::size_t first, std::size_t units) noexcept;
    // Requires: the kind large_head.
    void mark_inside(std::size_t unit) noexcept {
        slabs_[unit].run_part.store(RunPart::inside, std::memory_order_release);
    }
    void mark_nobodys(std::size_t first) noexcept {
        kinds_[first].store(UnitKind::none, std::memory_order_release);
        slabs_[first].owner.store(nullptr, std::memory_order_relaxed);
    }
    // Where the thread may have a run with this unit as its first or last; for any number.
    [[nodiscard]] unsigned run_place(std::size_t unit) const noexcept {
        if (unit >= units_.usable_units()) return KeptRuns::kNone;
        return slabs_[unit].run_place.load(std::memory_order_relaxed);
    }
    [[nodiscard]] bool is_kept_by(const ThreadHeap& heap, KeptRun run) const noexcept {
        return begins(run.first, RunPart::kept) && slabs_[run.first].capacity == run.units &&
               slabs_[run.first].owner.load(std::memory_order_relaxed) == &heap;
    }
    // Whether a large block begins there. Requires: units().owns(address).
    [[nodiscard]] bool is_large_block(const void* address) const noexcept {
        const std::size_t unit = units_.unit_of(address);
        return unit < units_.usable_units() && begins(unit, RunPart::live) &&
               address == units_.address_of(unit);
    }
    void give_back(std::size_t first, std::size_t count) noexcept;

    struct Purged {
        // Returned to the system.
        std::size_t bytes = 0;
        // Heaps of threads that were at work, or that cannot be reached on this platform.
        std::size_t skipped_heaps = 0;
    };
    // Makes so many bytes of units usable and brings them into memory. Fails as UnitMap::prewarm does.
    [[nodiscard]] Expected<void> prewarm(std::size_t bytes) noexcept;

    // Sends home what all threads keep, and returns the memory of free units. From any thread; one at a time,
    // and whoever comes meanwhile purges nothing.
    Purged purge() noexcept;
    // Sends home what all threads keep, when it is as much as is wanted: for an allocation that failed, and
    // that began when so many purges had ended. Where another does that already, waits for it, but not for
    // ever. False when there is no hope in trying again.
    [[nodiscard]] bool take_back(std::size_t wanted_bytes, std::uint64_t purges_before) noexcept;
    [[nodiscard]] std::uint64_t ended_purges() const noexcept {
        return ended_purges_.load(std::memory_order_acquire);
    }
    // Returns the memory of free units only, and leaves what threads keep: how many bytes that were.
    std::size_t purge_units() noexcept { return units_.purge(); }
    // Keeps purges away, so that a fork finds no heap revoked.
    [[nodiscard]] bool try_begin_purge() noexcept {
        return !is_purging_.exchange(true, std::memory_order_acquire);
    }
    void end_purge() noexcept {
        ended_purges_.fetch_add(1, std::memory_order_release);
        is_purging_.store(false, std::memory_order_release);
    }

    struct Counts {
        std::size_t live_blocks = 0;
        std::size_t live_bytes = 0;
        std::size_t cached_bytes = 0;
        std::uint64_t queued_blocks = 0;
        std::uint64_t operations = 0;
        std::size_t heaps = 0;
        std::size_t orphans = 0;
        // How often somebody has looked into an orphan.
        std::uint64_t orphan_visits = 0;
    };
    [[nodiscard]] Counts count() const noexcept;
    [[nodiscard]] Status check() const noexcept;

    void note_failure() noexcept { failures_.fetch_add(1, std::memory_order_relaxed); }
    [[nodiscard]] std::uint64_t failures() const noexcept {
        return failures_.load(std::memory_order_relaxed);
    }
    // Units of slabs and large blocks, in bytes, now and at most.
    [[nodiscard]] std::size_t taken_bytes(
        std::memory_order order = std::memory_order_relaxed) const noexcept {
        return taken_bytes_.load(order);
    }
    [[nodiscard]] std::size_t peak_bytes() const noexcept {
        return peak_bytes_.load(std::memory_order_relaxed);
    }

    // The live cores of the process: see live_heaps.hpp.
    HeapCore* next_live = nullptr;
    HeapCore* previous_live = nullptr;

private:
    [[nodiscard]] bool begins(std::size_t unit, RunPart part) const noexcept {
        return kinds_[unit].load(std::memory_order_relaxed) == UnitKind::large_head &&
               slabs_[unit].run_part.load(std::memory_order_relaxed) == part;
    }
    // Whether a unit is a part of the large block, kept run or slab before it that has this kind.
    [[nodiscard]] bool continues(std::size_t unit, UnitKind kind) const noexcept;
    [[nodiscard]] static Expected<void> commit_units(void* core, std::size_t first, std::size_t end) noexcept;
    void ask_for_huge_pages(std::size_t first, std::size_t end) const noexcept;
    static void tell_growth(void* core) noexcept;
    [[nodiscard]] ThreadHeap* find_heap_of(std::uint64_t thread_id) const noexcept;
    [[nodiscard]] ThreadHeap* adopt_heap(std::uint64_t thread_id) noexcept;
    // Now and then, for a thread that should have none: one that it has all the same was left behind by
    // another with the same number, and then all look from now on.
    [[nodiscard]] ThreadHeap* find_left_heap(std::uint64_t thread_id) noexcept;
    [[nodiscard]] Expected<ThreadHeap*> make_heap(std::uint64_t thread_id) noexcept;
    void set_kinds(std::size_t first, std::size_t count, UnitKind head, UnitKind body) noexcept;
    // The first of a large block; asserts that there is one.
    [[nodiscard]] std::size_t unit_of_block(const std::byte* block) const noexcept {
        OURO_BLOCK_ASSERT(is_large_block(block), "not a block of this heap, or freed twice", name_, block);
        return units_.unit_of(block);
    }
    void note_taken(std::size_t units) noexcept;
    void tell_use() const noexcept {
        if (on_use_ != nullptr) on_use_(listing_);
    }
    [[nodiscard]] bool keeps_too_much() noexcept;
    [[nodiscard]] bool take_behind(std::size_t first, std::size_t count, ThreadHeap* heap) noexcept;
    // What the threads that are there may keep.
    [[nodiscard]] std::size_t promised_units() const noexcept;
    [[nodiscard]] bool wait_for_purge() noexcept;
    // How many heaps could not be reached.
    std::size_t empty_caches() noexcept;
    [[nodiscard]] bool empty_other(ThreadHeap& heap) noexcept;
    // Holds an orphan for a moment; false when it is none, or somebody else holds it.
    [[nodiscard]] bool try_hold(ThreadHeap& heap) noexcept;
    void let_go(ThreadHeap& heap, ThreadHeap::Remains remains) noexcept;
    void list_for_adoption(ThreadHeap& orphan) noexcept;
    // In the child of a fork: what was in the hands of threads that are not there is in lists again.
    void list_orphans_again() noexcept;
    void recover_lost_units() noexcept;
    // How many units the slab, large block or heap has that begins there; none when nothing complete does.
    [[nodiscard]] std::size_t complete_units_at(std::size_t unit) const noexcept;
    [[nodiscard]] Status check_units() const noexcept;
    [[nodiscard]] Status check_slab(std::size_t unit) const noexcept;
    [[nodiscard]] Status check_kept_runs() const noexcept;
    [[nodiscard]] bool has_lost_heap() const noexcept;
    // Puts all that has arrived into the queues of its owners: a thread that was lost may have kept it.
    void queue_arrivals_again() noexcept;
    void forget_arrivals(std::size_t unit) noexcept;
    // Makes the summary that of its words, adds their bits to the blocks, and returns it. Requires: no other
    // thread is there.
    static std::uint64_t sum_up(Arrivals& arrivals, std::uint32_t& blocks) noexcept;
    // Blocks on their way home without a parcel.
    [[nodiscard]] std::uint32_t arrived_blocks(unsigned size_class) const noexcept {
        return arrived_blocks_[size_class].load(std::memory_order_relaxed);
    }
    [[nodiscard]] Status check_queues() const noexcept;
    [[nodiscard]] Status check_free_blocks() const noexcept;

    UnitMap units_;
    Slab* slabs_;
    SlabBitmap* bitmaps_;
    Arrivals* arrivals_;
    std::atomic<UnitKind>* kinds_;
    std::uint64_t id_;
    const char* name_;
    std::size_t purge_threshold_units_;
    std::size_t most_kept_units_;
    // For all threads, and what of it is left to be promised to one.
    std::size_t all_kept_units_;
    std::atomic<std::size_t> unpromised_units_;
    std::size_t huge_from_units_;
    unsigned slab_classes_;
    // How much smaller the caches of threads are: where there is little, one shall not keep it all.
    unsigned cache_shift_;
    std::atomic<ThreadHeap*> heaps_ = nullptr;
    static constexpr unsigned kToEmpty = kClassCount;
    // By the class that they have slabs of; and those that nobody has emptied since they got something.
    OrphanLists orphan_lists_;
    OrphanStack adoptable_;
    std::atomic<bool> may_be_left_ = false;
    // By threads that should have had none.
    std::atomic<std::uint32_t> wanted_heaps_ = 0;
    std::atomic<std::uint64_t> orphan_visits_ = 0;
    std::atomic<bool> is_purging_ = false;
    // Number of the purge that somebody waited for in vain.
    std::atomic<std::uint64_t> stuck_purge_ = 0;
    std::atomic<std::uint64_t> ended_purges_ = 0;
    // Large blocks, taken and returned; small ones of threads without a heap, returned; and all that heaps
    // did which a reset has forgotten.
    std::atomic<std::uint64_t> other_operations_ = 0;
    std::atomic<std::uint64_t> failures_ = 0;
    std::atomic<std::uint32_t> arrived_blocks_[kClassCount] = {};
    // Whether any block ever came without a parcel.
    std::atomic<bool> had_arrivals_ = false;
    void (*on_growth_)(void* context);
    void (*on_use_)(void* context);
    void* listing_;
    std::atomic<std::size_t> taken_bytes_ = 0;
    std::atomic<std::size_t> peak_bytes_ = 0;
    RecentPeak recent_peak_units_;
};

}  // namespace ouro::detail
