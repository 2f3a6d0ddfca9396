#include "thread_heap_mail.hpp"

#include <ouro/memory/detail/heap_core.hpp>
#include <ouro/memory/detail/thread_heap.hpp>

#include <algorithm>
#include <bit>
#include <cstring>

namespace ouro::detail {
namespace {

constexpr std::uint32_t kFirstLimit = 16;
constexpr std::uint32_t kLeastFlushed = 256;
constexpr std::size_t kOneWayBytes = std::size_t{512} << 10;
constexpr std::uint32_t kFewestOneWay = 8;
// Two megabytes: seldom enough for a class that is in use and looks the same twice by chance.
constexpr std::uint32_t kUnitsBetweenLooks = 32;
// Per thread; fewer where caches are smaller.
constexpr std::size_t kKeptEmptyUnits = 128;

}  // namespace

ThreadHeap::ThreadHeap(HeapCore& core, std::uint64_t thread, unsigned cache_shift) noexcept
    : thread_id(thread), core_(core), cache_shift_(cache_shift), runs_(core.most_kept_units()) {
    for (unsigned index = 0; index < kParcels; ++index)
        (new (parcels() + index) Parcel)->is_taken.store(false, std::memory_order_relaxed);
    for (unsigned size_class = 0; size_class < kClassCount; ++size_class) {
        limits_[size_class] = first_limit(size_class);
        bins_[size_class].slabs = nullptr;
        bins_[size_class].top.store(slots(size_class), std::memory_order_relaxed);
        set_bounds(size_class);
    }
}

const char* ThreadHeap::name() const noexcept {
    return core_.name();
}

std::uint32_t ThreadHeap::first_limit(unsigned size_class) const noexcept {
    return size_class < core_.slab_classes() ? std::min(kFirstLimit, capacity(size_class)) : 0;
}

void ThreadHeap::set_bounds(unsigned size_class) noexcept {
    void** const bottom = slots(size_class);
    bins_[size_class].bottom.store(bottom, std::memory_order_release);
    bins_[size_class].limit.store(bottom + limits_[size_class], std::memory_order_release);
}

// Of a class that the thread only takes from, or only frees to: with large blocks, more on the way between
// threads would be memory that nobody uses.
std::uint32_t ThreadHeap::one_way_limit(unsigned size_class) const noexcept {
    const auto fitting = static_cast<std::uint32_t>(kOneWayBytes / kClassBytes[size_class]);
    return std::min(std::max(fitting, kFewestOneWay), capacity(size_class));
}

// Caches begin small and double whenever they prove too small, so that a class used now and then holds
// little.
void ThreadHeap::raise_limit(unsigned size_class, std::uint32_t most) noexcept {
    if (limits_[size_class] >= most) return;
    limits_[size_class] = std::min(2 * limits_[size_class], most);
    set_bounds(size_class);
}

bool ThreadHeap::enter() noexcept {
    for (;;) {
        const std::uint64_t sequence = sequence_.load(std::memory_order_relaxed);
        sequence_.store(sequence + 1, std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_seq_cst);
        if (revoked_.load(std::memory_order_acquire) == Revocation::none) return true;
        sequence_.store(sequence, std::memory_order_release);
        if (!wait_while_revoked()) return false;
    }
}

// Goes back to the number before enter: only pops and pushes count as operations.
void ThreadHeap::leave() noexcept {
    sequence_.store(sequence_.load(std::memory_order_relaxed) - 1, std::memory_order_release);
}

void ThreadHeap::list(Slab& slab) noexcept {
    Slab*& first = bins_[slab.size_class].slabs;
    slab.next = first;
    slab.previous = nullptr;
    if (first != nullptr) first->previous = &slab;
    first = &slab;
    slab.is_listed = true;
}

void ThreadHeap::unlist(Slab& slab) noexcept {
    (slab.previous != nullptr ? slab.previous->next : bins_[slab.size_class].slabs) = slab.next;
    if (slab.next != nullptr) slab.next->previous = slab.previous;
    slab.is_listed = false;
}

// Empty slabs are kept up to a bound, so that a program that frees and allocates in waves does not take and
// return them again and again.
void ThreadHeap::keep_or_give_up(Slab& slab) noexcept {
    if (empty_units_.load(std::memory_order_relaxed) + slab.units <= (kKeptEmptyUnits >> cache_shift_)) {
        empty_units_.fetch_add(slab.units, std::memory_order_relaxed);
        return;
    }
    unlist(slab);
    core_.release_slab(slab);
}

Expected<void*> ThreadHeap::pop_slow(unsigned size_class) noexcept {
    for (;;) {
        if (void* const block = pop(size_class)) return block;
        if (!enter_or_abandon()) return Status::busy;
        const Status status = refill(size_class);
        leave();
        if (status != Status::ok) return status;
    }
}

bool ThreadHeap::push_slow(unsigned size_class, void* block) noexcept {
    while (!push(size_class, block)) {
        if (!enter_or_abandon()) return false;
        overflow(size_class);
        leave();
    }
    return true;
}

// A cache that overflows with blocks of other threads belongs to one that only frees: it shall keep few, so
// that they are home soon and used again while they are in some processor's cache.
void ThreadHeap::overflow(unsigned size_class) noexcept {
    const std::uint32_t least = std::min(kLeastFlushed, one_way_limit(size_class));
    if (limits_[size_class] < least) return raise_limit(size_class, least);
    const std::uint32_t cached = cached_blocks(size_class);
    if (cached < limits_[size_class]) return;
    if (flush(size_class, (cached + 1) / 2)) return raise_limit(size_class, capacity(size_class));
    limits_[size_class] = std::max(limits_[size_class] / 2, least);
    set_bounds(size_class);
}

Status ThreadHeap::refill(unsigned size_class) noexcept {
    // Whoever took the heap over may have left blocks, or the queue of another class may have been asked for.
    if (cached_blocks(size_class) != 0) return Status::ok;
    raise_limit(size_class, one_way_limit(size_class));
    collect_queue(size_class);
    if (bins_[size_class].slabs == nullptr) {
        const Status status = find_slab(size_class);
        if (status != Status::ok) return status;
    }
    fill_from_slabs(size_class);
    return Status::ok;
}

void ThreadHeap::fill_from_slabs(unsigned size_class) noexcept {
    const std::uint32_t wanted = std::max<std::uint32_t>(1, limits_[size_class] / 2);
    Bin& bin = bins_[size_class];
    void** const bottom = slots(size_class);
    void** slot = bottom + wanted;
    while (slot != bottom && bin.slabs != nullptr)
        slot = take_from_slab(*bin.slabs, bottom, slot);
    const auto taken = static_cast<std::size_t>(bottom + wanted - slot);
    if (slot != bottom) std::memmove(bottom, slot, taken * sizeof(void*));
    bin.top.store(bottom + taken, std::memory_order_relaxed);
}

// Fills the slots before one, down to the bottom, with the blocks that a word has bits for.
inline void** ThreadHeap::take_bits(std::uint64_t& bits, std::byte* first, std::size_t size, void** bottom,
                                    void** slot) noexcept {
    if (bits == ~std::uint64_t{0} && slot - bottom >= 64) {
        for (unsigned index = 0; index < 64; ++index, first += size)
            *--slot = first;
        bits = 0;
        return slot;
    }
    for (; bits != 0 && slot != bottom; bits &= bits - 1)
        *--slot = first + static_cast<unsigned>(std::countr_zero(bits)) * size;
    return slot;
}

// The lowest word with blocks of a slab of many; the highest when blocks go to another core. That core reads
// ahead in ascending order, and would get at what is about to be written here: behind a word it shall find
// what it had before.
inline unsigned ThreadHeap::word_to_take(const Slab& slab) noexcept {
    return static_cast<unsigned>(slab.is_freed_elsewhere ? 63 - std::countl_zero(slab.returned)
                                                         : std::countr_zero(slab.returned));
}

// Puts blocks of the slab in front of a slot, down to the bottom, and returns the last slot filled. They
// leave the cache in the order of their addresses, at least within a word: those that were out before, then
// fresh ones.
void** ThreadHeap::take_from_slab(Slab& slab, void** bottom, void** slot) noexcept {
    void** const first = slot;
    std::byte* const start = core_.address_of(slab);
    const std::size_t size = kClassBytes[slab.size_class];
    if (slab.has_few()) {
        slot = take_bits(slab.returned, start, size, bottom, slot);
    } else {
        while (slab.returned != 0 && slot != bottom) {
            const unsigned word = word_to_take(slab);
            std::uint64_t& bits = core_.bitmap_of(slab).words[word];
            slot = take_bits(bits, start + word * 64 * size, size, bottom, slot);
            if (bits == 0) slab.returned &= ~(std::uint64_t{1} << word);
        }
    }
    for (; slot != bottom && slab.first_fresh != slab.capacity; ++slab.first_fresh)
        *--slot = start + slab.first_fresh * size;
    const std::uint32_t used = slab.used.load(std::memory_order_relaxed);
    if (used == 0) empty_units_.fetch_sub(slab.units, std::memory_order_relaxed);
    slab.used.store(used + static_cast<std::uint32_t>(first - slot), std::memory_order_relaxed);
    if (!slab.has_blocks()) unlist(slab);
    return slot;
}

// Looks for what was already ours or nobody's before it takes new units.
Status ThreadHeap::find_slab(unsigned size_class) noexcept {
    for (unsigned other = 0; other < kClassCount; ++other) {
        collect_queue(other);
        // Not worth a look at every slab where none is empty.
        if (other != size_class && empty_slab_bytes() != 0) give_up_empty_slabs(other);
    }
    if (bins_[size_class].slabs == nullptr) core_.adopt_slabs(size_class, *this);
    if (bins_[size_class].slabs != nullptr) return Status::ok;
    if (units_since_look_ >= kUnitsBetweenLooks) send_unused_home();
    const auto slab = core_.make_slab(size_class, *this);
    if (!slab) return slab.status();
    units_since_look_ += (*slab)->units;
    list(**slab);
    empty_units_.fetch_add((*slab)->units, std::memory_order_relaxed);
    return Status::ok;
}

// A program that goes on to other sizes leaves its caches behind. Blocks that lie scattered in them keep most
// of their slabs from becoming empty, each of which could serve another class.
void ThreadHeap::send_unused_home() noexcept {
    units_since_look_ = 0;
    for (unsigned size_class = 0; size_class < kClassCount; ++size_class) {
        void** const top = bins_[size_class].top.load(std::memory_order_relaxed);
        const std::uint32_t cached = cached_blocks(size_class);
        if (cached != 0 && seen_tops_[size_class] == top) {
            flush(size_class, cached);
            give_up_empty_slabs(size_class);
        }
        seen_tops_[size_class] = bins_[size_class].top.load(std::memory_order_relaxed);
    }
}

// Sends the oldest blocks home. True when some of them were from here.
bool ThreadHeap::flush(unsigned size_class, std::uint32_t count) noexcept {
    void** const bottom = slots(size_class);
    const std::uint32_t cached = cached_blocks(size_class);
    Mail mail(*this, size_class);
    const bool any_own = send_home(size_class, bottom, bottom + count, mail);
    std::memmove(bottom, bottom + count, (cached - count) * sizeof(void*));
    bins_[size_class].top.store(bottom + (cached - count), std::memory_order_relaxed);
    return any_own;
}

void ThreadHeap::collect_queue(unsigned size_class) noexcept {
    Queue& queue = queue_[size_class];
    if (queue.is_empty()) return;
    Mail mail(*this, size_class);
    open_parcels(size_class, mail);
    take_arrivals(size_class);
}

void ThreadHeap::give_up_empty_slabs(unsigned size_class) noexcept {
    for (Slab* slab = bins_[size_class].slabs; slab != nullptr;) {
        Slab* const next = slab->next;
        if (slab->used.load(std::memory_order_relaxed) == 0) {
            empty_units_.fetch_sub(slab->units, std::memory_order_relaxed);
            unlist(*slab);
            core_.release_slab(*slab);
        }
        slab = next;
    }
}

void ThreadHeap::empty() noexcept {
    for (unsigned size_class = 0; size_class < kClassCount; ++size_class) {
        if (const std::uint32_t cached = cached_blocks(size_class); cached != 0) flush(size_class, cached);
        collect_queue(size_class);
        give_up_empty_slabs(size_class);
    }
    give_up_runs();
}

bool ThreadHeap::empty_as_owner() noexcept {
    if (!enter_or_abandon()) return false;
    empty();
    leave();
    return true;
}

// The next thread begins with small caches again: one that does little should not fetch for every class as
// much as all those before it came to need, only to send it home.
bool ThreadHeap::end_as_owner() noexcept {
    if (!enter_or_abandon()) return false;
    empty();
    for (unsigned size_class = 0; size_class < kClassCount; ++size_class) {
        if (limits_[size_class] == first_limit(size_class)) continue;
        limits_[size_class] = first_limit(size_class);
        set_bounds(size_class);
    }
    leave();
    return true;
}

ThreadHeap::Remains ThreadHeap::empty_as_holder() noexcept {
    if (!enter()) return {};
    empty();
    const Remains remains{.was_entered = true, .classes = classes_with_slabs()};
    leave();
    return remains;
}

// A queue may still receive blocks of slabs that have moved: whoever collects it sends them on.
ThreadHeap::Remains ThreadHeap::move_slabs(unsigned size_class, ThreadHeap& target) noexcept {
    if (!enter()) return {};
    while (Slab* const slab = bins_[size_class].slabs) {
        unlist(*slab);
        slab->owner.store(&target, std::memory_order_release);
        target.list(*slab);
        if (slab->used.load(std::memory_order_relaxed) == 0) {
            empty_units_.fetch_sub(slab->units, std::memory_order_relaxed);
            target.empty_units_.fetch_add(slab->units, std::memory_order_relaxed);
        }
    }
    const Remains remains{.was_entered = true, .classes = classes_with_slabs()};
    leave();
    return remains;
}

std::uint64_t ThreadHeap::classes_with_slabs() const noexcept {
    std::uint64_t classes = 0;
    for (unsigned size_class = 0; size_class < kClassCount; ++size_class)
        classes |= std::uint64_t{bins_[size_class].slabs != nullptr} << size_class;
    return classes;
}

std::uint32_t ThreadHeap::cached_blocks(unsigned size_class) const noexcept {
    return static_cast<std::uint32_t>(bins_[size_class].top.load(std::memory_order_relaxed) -
                                      slots(size_class));
}

std::uint32_t ThreadHeap::queued_blocks(unsigned size_class) const noexcept {
    return queue_[size_class].blocks.load(std::memory_order_relaxed);
}

}  // namespace ouro::detail
