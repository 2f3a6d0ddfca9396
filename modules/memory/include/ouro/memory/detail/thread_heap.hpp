#pragma once

#include <ouro/base/assert.hpp>
#include <ouro/base/expected.hpp>
#include <ouro/memory/detail/arrivals.hpp>
#include <ouro/memory/detail/block_assert.hpp>
#include <ouro/memory/detail/kept_runs.hpp>
#include <ouro/memory/detail/orphan_lists.hpp>
#include <ouro/memory/detail/parcel.hpp>
#include <ouro/memory/detail/slab.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ouro::detail {

class FreeBlocks;
class HeapCore;

// The part of a small-object heap that one thread owns: a cache of free blocks for each class, and the slabs
// they come from. Popping and pushing touch nothing that another thread writes.
//
// A block that is freed goes to the cache of the thread that frees it, wherever it came from. When a cache
// overflows, its older half goes home: to the slabs of this heap, or in parcels to the queue of the heap that
// owns the slab, which takes the whole queue when it next needs blocks.
//
// Another thread may take the heap over for a moment, to empty an idle cache. For that the owner shows when
// it is inside (an odd sequence number, stored without a fence), and whoever comes makes every cache look
// both empty and full, lets the system run a barrier on all threads, and waits until the owner is outside.
// An owner that comes back meanwhile waits, but not for ever: whoever has revoked the heap may be stopped. It
// then leaves the heap to that one, who makes it an orphan in the end, and takes another.
class ThreadHeap {
public:
    enum class State : std::uint32_t { owned, orphan, held };

    // The bytes of a heap whose caches are smaller than usual by a power of two; its parcels and slots lie
    // behind it.
    [[nodiscard]] static constexpr std::size_t bytes_with(unsigned cache_shift) noexcept {
        return sizeof(ThreadHeap) + kParcels * sizeof(Parcel) +
               (kSlotOffsets[kClassCount] >> cache_shift) * sizeof(void*);
    }
    // Requires: room for bytes_with(cache_shift), cache_shift <= kMostCacheShift.
    ThreadHeap(HeapCore& core, std::uint64_t thread, unsigned cache_shift) noexcept;

    // What whoever holds a heap leaves there.
    struct Remains {
        // False: it was revoked for long, and nothing has happened.
        bool was_entered = false;
        // A bit for each class with slabs that have free blocks.
        std::uint64_t classes = 0;
    };

    // Every class keeps a slot.
    static constexpr unsigned kMostCacheShift = 3;
    // How many may be on their way from here at a time.
    static constexpr unsigned kParcels = 8;
    // Two lines of slots: the next is on its way before it is reached.
    static constexpr std::ptrdiff_t kSlotsAhead = 16;

    // A block of the class from the cache, or null when it is empty.
    [[nodiscard]] void* pop(unsigned size_class) noexcept {
        const std::uint64_t sequence = enter_fast();
        Bin& bin = bins_[size_class];
        void** const bottom = bin.bottom.load(std::memory_order_acquire);
        void** const top = bin.top.load(std::memory_order_relaxed);
        if (top <= bottom) [[unlikely]] {
            sequence_.store(sequence, std::memory_order_relaxed);
            return nullptr;
        }
        // Slots that have lain untouched for long are out of the processor's cache when their turn comes.
        __builtin_prefetch(top - kSlotsAhead);
        void* const block = top[-1];
        if (block == nullptr) __builtin_unreachable();
        bin.top.store(top - 1, std::memory_order_relaxed);
        sequence_.store(sequence + 2, std::memory_order_release);
        return block;
    }

    // Keeps a free block of the class; false when the cache is full.
    [[nodiscard]] bool push(unsigned size_class, void* block) noexcept {
        const std::uint64_t sequence = enter_fast();
        Bin& bin = bins_[size_class];
        void** const limit = bin.limit.load(std::memory_order_acquire);
        void** const top = bin.top.load(std::memory_order_relaxed);
        if (top >= limit) [[unlikely]] {
            sequence_.store(sequence, std::memory_order_relaxed);
            return false;
        }
        OURO_DEBUG_BLOCK_ASSERT(top == slots(size_class) || top[-1] != block, "freed twice", name(), block);
        OURO_EXPENSIVE_ASSERT(!is_free_here(size_class, block), "freed twice");
        *top = block;
        bin.top.store(top + 1, std::memory_order_relaxed);
        sequence_.store(sequence + 2, std::memory_order_release);
        return true;
    }

    // The same when the cache cannot serve. Fails as UnitMap::take does, or with busy when the thread had to
    // leave the heap, which is not its own any more; so false from push_slow, and the block is the caller's.
    [[nodiscard]] Expected<void*> pop_slow(unsigned size_class) noexcept;
    [[nodiscard]] bool push_slow(unsigned size_class, void* block) noexcept;

    // Free runs of units, for large blocks of the thread itself. The first unit of one, which is a large
    // block from now on, or kNoUnit; false when there is no room for a run, and then one to give up and to
    // give back to the core, or none. Whoever has revoked the heap is not waited for: there is no run then,
    // and no room.
    [[nodiscard]] std::size_t take_run(std::size_t units) noexcept;
    [[nodiscard]] bool keep_run(std::size_t first, std::size_t units) noexcept;
    // For one of so many units: none when it would have no room anyway.
    [[nodiscard]] KeptRun give_up_run(std::size_t units) noexcept;
    // How many units, no more than so many, are kept right behind a large block of the thread; and these or
    // fewer as a part of it from now on, not counted.
    [[nodiscard]] std::size_t kept_units_at(std::size_t first, std::size_t most) noexcept;
    [[nodiscard]] bool take_run_at(std::size_t first, std::size_t units) noexcept;
    [[nodiscard]] std::size_t kept_units() const noexcept { return runs_.units(); }
    // Of what all threads may keep together. Requires: nobody uses the heap meanwhile.
    [[nodiscard]] std::size_t promised_units() const noexcept { return runs_.limit_units(); }

    // Sends every cached block home and gives back the slabs that are empty then. One for the owner: false
    // when it had to leave the heap; one for whoever holds it; one for whoever has revoked it.
    [[nodiscard]] bool empty_as_owner() noexcept;
    // The same for good, at the end of the thread: whoever adopts the heap finds it as if new.
    [[nodiscard]] bool end_as_owner() noexcept;
    [[nodiscard]] Remains empty_as_holder() noexcept;
    void empty() noexcept;

    // For other threads: takes the heap over from its owner, when that one is outside and stays so for a
    // moment; must be undone soon. False when it was not possible.
    [[nodiscard]] bool try_revoke() noexcept;
    void restore() noexcept;

    // Moves the slabs with free blocks of a class to another heap. Requires: the caller holds this heap.
    [[nodiscard]] Remains move_slabs(unsigned size_class, ThreadHeap& target) noexcept;

    // For orphans: whether blocks have come home that are not in their slabs yet, and whether somebody has
    // revoked the heap.
    [[nodiscard]] bool has_mail() const noexcept;
    [[nodiscard]] bool is_revoked() const noexcept {
        return revoked_.load(std::memory_order_seq_cst) != Revocation::none;
    }

    // Puts free blocks of one class, one at least, into this heap's queue.
    void receive(unsigned size_class, Arrivals& arrivals) noexcept;
    void receive(unsigned size_class, Parcel& parcel, std::uint32_t blocks) noexcept;
    // In the child of a fork: the core puts them into queues again.
    void forget_arrivals() noexcept;

    // After a fork: the thread was in the middle of something, so that its heap and slabs may be, too.
    [[nodiscard]] bool is_lost() const noexcept {
        return state.load(std::memory_order_relaxed) == State::held;
    }
    // Of slabs without any block out.
    [[nodiscard]] std::size_t empty_slab_bytes() const noexcept {
        return empty_units_.load(std::memory_order_relaxed) * UnitMap::kUnitBytes;
    }
    [[nodiscard]] std::uint32_t cached_blocks(unsigned size_class) const noexcept;
    // Blocks in parcels on their way home that the owner has not collected.
    [[nodiscard]] std::uint32_t queued_blocks(unsigned size_class) const noexcept;
    [[nodiscard]] bool is_inside() const noexcept {
        return sequence_.load(std::memory_order_relaxed) % 2 != 0;
    }
    // Pops and pushes so far.
    [[nodiscard]] std::uint64_t operations() const noexcept {
        return sequence_.load(std::memory_order_relaxed) / 2;
    }
    [[nodiscard]] Status check() const noexcept;
    // What all heaps have on its way.
    struct Traffic {
        // Parcels in the queues, and those that heaps have under way.
        std::size_t received = 0;
        std::size_t sent = 0;
        // Blocks without a parcel in the queues, by class.
        std::uint32_t arrived_blocks[kClassCount] = {};
    };
    // The same for what is on its way home to this heap; adds it up. Requires: no thread was lost inside a
    // heap by a fork.
    [[nodiscard]] Status check_queues(Traffic& traffic) const noexcept;
    // Those in the cache and in the queue. Requires: check() and check_queues() found nothing.
    void add_free_blocks(unsigned size_class, FreeBlocks& blocks) const noexcept;

    std::atomic<State> state = State::owned;
    std::atomic<std::uint64_t> thread_id;
    // All heaps of the core; set once.
    ThreadHeap* next_heap = nullptr;
    // Its places in the core's lists of orphans.
    OrphanPlaces orphan_places;

private:
    struct Bin {
        std::atomic<void**> top;
        // The cache holds what lies between this and top, and may not grow beyond the limit. While the heap
        // is revoked, they are such that no top lies between them.
        std::atomic<void**> bottom;
        std::atomic<void**> limit;
        // Slabs with blocks to give.
        Slab* slabs;
    };

    // Blocks on their way to other heaps.
    class Mail;

    [[nodiscard]] std::uint64_t enter_fast() noexcept {
        const std::uint64_t sequence = sequence_.load(std::memory_order_relaxed);
        sequence_.store(sequence + 1, std::memory_order_relaxed);
        std::atomic_signal_fence(std::memory_order_seq_cst);
        return sequence;
    }
    // False when somebody has revoked the heap and does not restore it for long.
    [[nodiscard]] bool enter() noexcept;
    void leave() noexcept;
    // The core's, for messages.
    [[nodiscard]] const char* name() const noexcept;
    // Enters as the owner; false when it left the heap instead.
    [[nodiscard]] bool enter_or_abandon() noexcept;
    // Whether a block lies in the cache, or in a slab of this heap. Requires: the owner is inside, an address
    // in a slab of the class.
    [[nodiscard]] bool is_free_here(unsigned size_class, const void* block) const noexcept;
    [[nodiscard]] bool wait_while_revoked() const noexcept;
    void end_revocation() noexcept;
    [[nodiscard]] bool wait_until_outside() const noexcept;
    [[nodiscard]] std::uint64_t classes_with_slabs() const noexcept;
    // After something has come: whoever looks for blocks next shall find an orphan that has some.
    void tell_if_orphan() noexcept;

    [[nodiscard]] Parcel* parcels() const noexcept {
        return reinterpret_cast<Parcel*>(const_cast<ThreadHeap*>(this) + 1);
    }
    [[nodiscard]] void** slots(unsigned size_class) const noexcept {
        return reinterpret_cast<void**>(parcels() + kParcels) + (kSlotOffsets[size_class] >> cache_shift_);
    }
    [[nodiscard]] std::uint32_t capacity(unsigned size_class) const noexcept {
        return (kSlotOffsets[size_class + 1] >> cache_shift_) - (kSlotOffsets[size_class] >> cache_shift_);
    }
    void set_bounds(unsigned size_class) noexcept;
    [[nodiscard]] std::uint32_t first_limit(unsigned size_class) const noexcept;
    [[nodiscard]] std::uint32_t one_way_limit(unsigned size_class) const noexcept;
    void raise_limit(unsigned size_class, std::uint32_t most) noexcept;

    [[nodiscard]] Status refill(unsigned size_class) noexcept;
    void fill_from_slabs(unsigned size_class) noexcept;
    [[nodiscard]] static void** take_bits(std::uint64_t& bits, std::byte* first, std::size_t size,
                                          void** bottom, void** slot) noexcept;
    [[nodiscard]] static unsigned word_to_take(const Slab& slab) noexcept;
    [[nodiscard]] void** take_from_slab(Slab& slab, void** bottom, void** slot) noexcept;
    [[nodiscard]] Status find_slab(unsigned size_class) noexcept;
    void send_unused_home() noexcept;
    void overflow(unsigned size_class) noexcept;
    bool flush(unsigned size_class, std::uint32_t count) noexcept;
    void collect_queue(unsigned size_class) noexcept;

    // One that is nowhere now, or null.
    [[nodiscard]] Parcel* take_parcel() noexcept;
    void open_parcels(unsigned size_class, Mail& mail) noexcept;
    void take_arrivals(unsigned size_class) noexcept;
    void take_arrivals(Arrivals& arrivals) noexcept;
    [[nodiscard]] bool check_arrivals(const Arrivals& arrivals, Traffic& traffic) const noexcept;

    struct Home;
    [[nodiscard]] Home home_of(unsigned size_class, const void* block) const noexcept;
    struct Neighbours;
    [[nodiscard]] Neighbours neighbours_of(unsigned size_class, const Home& home) const noexcept;
    template <bool kIsOurs>
    [[nodiscard]] std::uint64_t gather(const Neighbours& neighbours, void**& next, void** end) const noexcept;
    // Blocks of one class, to the slabs they are from. True when some of them were from here.
    bool send_home(unsigned size_class, void** first, void** end, Mail& mail) noexcept;
    // Those of this heap up to one that is not, or those of others up to one that is: the first that stayed.
    [[nodiscard]] void** return_own_of_many(unsigned size_class, void** next, void** end) noexcept;
    [[nodiscard]] void** return_own_of_few(unsigned size_class, void** next, void** end) noexcept;
    [[nodiscard]] void** post_others(unsigned size_class, void** next, void** end, Mail& mail) noexcept;
    [[gnu::always_inline]] void return_to_slab(Slab& slab, std::size_t word, std::uint64_t blocks,
                                               std::uint32_t count) noexcept;
    // For a slab of many blocks; `bits` is that word of its bitmap.
    [[gnu::always_inline]] void return_to_word(Slab& slab, std::uint64_t& bits, std::size_t word,
                                               std::uint64_t blocks) const noexcept;
    [[gnu::always_inline]] void count_returned(Slab& slab, std::uint32_t count) noexcept;
    [[noreturn, gnu::cold]] void freed_wrongly(const void* block) const noexcept;
    [[noreturn, gnu::cold]] void freed_twice(const Slab& slab, std::size_t word,
                                             std::uint64_t blocks) const noexcept;
    void keep_or_give_up(Slab& slab) noexcept;
    void give_up_empty_slabs(unsigned size_class) noexcept;
    void ask_to_keep_more() noexcept;
    void cut_run(unsigned place, std::size_t units) noexcept;
    void join_and_add(KeptRun run) noexcept;
    void give_up_runs() noexcept;
    [[nodiscard]] Status check_runs() const noexcept;
    void list(Slab& slab) noexcept;
    void unlist(Slab& slab) noexcept;

    alignas(64) std::atomic<std::uint64_t> sequence_ = 0;
    Bin bins_[kClassCount];
    HeapCore& core_;
    // Left: its owner is gone for good.
    enum class Revocation : std::uint32_t { none, revoked, left };
    std::atomic<Revocation> revoked_ = Revocation::none;
    std::uint32_t limits_[kClassCount] = {};
    // Where the caches ended when they were last looked at, and how many units were taken since.
    void* const* seen_tops_[kClassCount] = {};
    std::uint32_t units_since_look_ = 0;
    unsigned cache_shift_;
    unsigned next_parcel_ = 0;
    // Units of slabs without any block out, kept for the next need.
    std::atomic<std::size_t> empty_units_ = 0;
    // Not while the heap is revoked.
    std::atomic<bool> are_runs_open_ = true;
    KeptRuns runs_;

    // Written by other threads.
    struct Queue {
        std::atomic<Parcel*> parcels = nullptr;
        // In parcels.
        std::atomic<std::uint32_t> blocks = 0;
        // Of slabs of this class, but for those that have become another's on the way.
        std::atomic<Arrivals*> arrivals = nullptr;

        [[nodiscard]] bool is_empty() const noexcept {
            return parcels.load(std::memory_order_relaxed) == nullptr &&
                   arrivals.load(std::memory_order_relaxed) == nullptr;
        }
    };
    alignas(64) Queue queue_[kClassCount];
};

}  // namespace ouro::detail
