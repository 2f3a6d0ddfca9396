#include "block_chain.hpp"

#include <ouro/base/assert.hpp>
#include <ouro/memory/annotations.hpp>
#include <ouro/memory/detail/heap_core.hpp>
#include <ouro/memory/detail/thread_heap.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace ouro::detail {
namespace {

constexpr std::uint32_t kFirstLimit = 16;
constexpr std::uint32_t kLeastFlushed = 256;
// Per thread; fewer where caches are smaller.
constexpr std::size_t kKeptEmptyUnits = 128;

}  // namespace

// A few open chains, one a destination; a chain is delivered when its place is wanted for another.
class ThreadHeap::Mail {
public:
    explicit Mail(unsigned size_class) noexcept : size_class_(size_class) {}
    ~Mail() {
        for (Place& place : places_)
            deliver(place);
    }
    Mail(const Mail&) = delete;
    Mail& operator=(const Mail&) = delete;

    void add(ThreadHeap& target, void* block) noexcept {
        Place& place = places_[(reinterpret_cast<std::uintptr_t>(&target) >> UnitMap::kUnitShift) % kPlaces];
        if (place.target != &target) {
            deliver(place);
            place = {&target, BlockChain(size_class_)};
        }
        place.chain.add(block);
    }

private:
    static constexpr std::size_t kPlaces = 4;
    struct Place {
        ThreadHeap* target = nullptr;
        BlockChain chain{0};
    };

    void deliver(Place& place) const noexcept {
        if (place.target != nullptr) place.target->receive(size_class_, place.chain);
    }

    unsigned size_class_;
    Place places_[kPlaces];
};

ThreadHeap::ThreadHeap(HeapCore& core, std::uint64_t thread, unsigned cache_shift) noexcept
    : thread_id(thread), core_(core), cache_shift_(cache_shift) {
    for (unsigned size_class = 0; size_class < kClassCount; ++size_class) {
        limits_[size_class] = std::min(kFirstLimit, capacity(size_class));
        bins_[size_class].slabs = nullptr;
        bins_[size_class].top.store(slots(size_class), std::memory_order_relaxed);
        set_bounds(size_class);
    }
}

void** ThreadHeap::slots(unsigned size_class) const noexcept {
    auto* const first = const_cast<ThreadHeap*>(this) + 1;
    return reinterpret_cast<void**>(first) + (kSlotOffsets[size_class] >> cache_shift_);
}

void ThreadHeap::set_bounds(unsigned size_class) noexcept {
    void** const bottom = slots(size_class);
    bins_[size_class].bottom.store(bottom, std::memory_order_release);
    bins_[size_class].limit.store(bottom + limits_[size_class], std::memory_order_release);
}

// Caches begin small and double whenever they prove too small, so that a class used now and then holds
// little.
void ThreadHeap::raise_limit(unsigned size_class) noexcept {
    if (limits_[size_class] == capacity(size_class)) return;
    limits_[size_class] = std::min(2 * limits_[size_class], capacity(size_class));
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

inline void ThreadHeap::return_to_slab(Slab& slab, const void* block) noexcept {
    const auto offset =
        static_cast<std::size_t>(static_cast<const std::byte*>(block) - core_.address_of(slab));
    const std::uint32_t index = block_index(slab.size_class, offset);
    const std::uint64_t bit = std::uint64_t{1} << index % 64;
    if (slab.has_few()) {
        OURO_ASSERT((slab.returned & bit) == 0, "freed twice");
        slab.returned |= bit;
    } else {
        std::uint64_t& word = core_.bitmap_of(slab).words[index / 64];
        if ((slab.returned >> (index / 64)) % 2 == 0) word = 0;
        OURO_ASSERT((word & bit) == 0, "freed twice");
        word |= bit;
        slab.returned |= std::uint64_t{1} << index / 64;
    }
    const std::uint32_t used = slab.used.load(std::memory_order_relaxed) - 1;
    slab.used.store(used, std::memory_order_relaxed);
    if (!slab.is_listed) list(slab);
    if (used == 0) keep_or_give_up(slab);
}

inline bool ThreadHeap::send_home(unsigned size_class, void* block, Mail& mail) noexcept {
    Slab& slab = core_.slab_of(block);
    ThreadHeap* const owner = slab.owner.load(std::memory_order_acquire);
    OURO_ASSERT(owner != nullptr && slab.size_class == size_class, "freed twice, or with a size not its own");
    if (owner != this) {
        mail.add(*owner, block);
        return false;
    }
    return_to_slab(slab, block);
    return true;
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
    const std::uint32_t least = std::min(kLeastFlushed, capacity(size_class));
    if (limits_[size_class] < least) return raise_limit(size_class);
    const std::uint32_t cached = cached_blocks(size_class);
    if (cached < limits_[size_class]) return;
    if (flush(size_class, (cached + 1) / 2)) return raise_limit(size_class);
    limits_[size_class] = std::max(limits_[size_class] / 2, least);
    set_bounds(size_class);
}

Status ThreadHeap::refill(unsigned size_class) noexcept {
    // Whoever took the heap over may have left blocks, or the queue of another class may have been asked for.
    if (cached_blocks(size_class) != 0) return Status::ok;
    raise_limit(size_class);
    if (fill_from_queue(size_class)) return Status::ok;
    if (bins_[size_class].slabs == nullptr) {
        const Status status = find_slab(size_class);
        if (status != Status::ok) return status;
    }
    fill_from_slabs(size_class);
    return Status::ok;
}

bool ThreadHeap::fill_from_queue(unsigned size_class) noexcept {
    if (queue_[size_class].first.load(std::memory_order_relaxed) == nullptr) return false;
    void* const bundles = queue_[size_class].first.exchange(nullptr, std::memory_order_acquire);
    Bin& bin = bins_[size_class];
    void** top = slots(size_class);
    void** const limit = top + limits_[size_class];
    Mail mail(size_class);
    const std::uint32_t collected = BlockChain::for_each(bundles, size_class, [&](void* block) {
        if (top != limit) {
            *top++ = block;
        } else {
            send_home(size_class, block, mail);
        }
    });
    bin.top.store(top, std::memory_order_relaxed);
    queue_[size_class].blocks.fetch_sub(collected, std::memory_order_relaxed);
    return true;
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
    for (; bits != 0 && slot != bottom; bits &= bits - 1)
        *--slot = first + static_cast<unsigned>(std::countr_zero(bits)) * size;
    return slot;
}

// Puts blocks of the slab in front of a slot, down to the bottom, and returns the last slot filled. They
// leave the cache in the order of their addresses: those that were out before, then fresh ones.
void** ThreadHeap::take_from_slab(Slab& slab, void** bottom, void** slot) noexcept {
    void** const first = slot;
    std::byte* const start = core_.address_of(slab);
    const std::size_t size = kClassBytes[slab.size_class];
    if (slab.has_few()) {
        slot = take_bits(slab.returned, start, size, bottom, slot);
    } else {
        while (slab.returned != 0 && slot != bottom) {
            const auto word = static_cast<unsigned>(std::countr_zero(slab.returned));
            std::uint64_t& bits = core_.bitmap_of(slab).words[word];
            slot = take_bits(bits, start + word * 64 * size, size, bottom, slot);
            if (bits == 0) slab.returned &= slab.returned - 1;
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
        if (other != size_class) give_up_empty_slabs(other);
    }
    if (bins_[size_class].slabs == nullptr) core_.adopt_slabs(size_class, *this);
    if (bins_[size_class].slabs != nullptr) return Status::ok;
    const auto slab = core_.make_slab(size_class, *this);
    if (!slab) return slab.status();
    list(**slab);
    empty_units_.fetch_add((*slab)->units, std::memory_order_relaxed);
    return Status::ok;
}

// Sends the oldest blocks home. True when some of them were from here.
bool ThreadHeap::flush(unsigned size_class, std::uint32_t count) noexcept {
    void** const bottom = slots(size_class);
    const std::uint32_t cached = cached_blocks(size_class);
    bool any_own = false;
    Mail mail(size_class);
    for (std::uint32_t index = 0; index < count; ++index)
        any_own |= send_home(size_class, bottom[index], mail);
    std::memmove(bottom, bottom + count, (cached - count) * sizeof(void*));
    bins_[size_class].top.store(bottom + (cached - count), std::memory_order_relaxed);
    return any_own;
}

void ThreadHeap::collect_queue(unsigned size_class) noexcept {
    if (queue_[size_class].first.load(std::memory_order_relaxed) == nullptr) return;
    void* const bundles = queue_[size_class].first.exchange(nullptr, std::memory_order_acquire);
    Mail mail(size_class);
    const std::uint32_t collected =
        BlockChain::for_each(bundles, size_class, [&](void* block) { send_home(size_class, block, mail); });
    queue_[size_class].blocks.fetch_sub(collected, std::memory_order_relaxed);
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
        flush(size_class, cached_blocks(size_class));
        collect_queue(size_class);
        give_up_empty_slabs(size_class);
    }
}

bool ThreadHeap::empty_as_owner() noexcept {
    if (!enter_or_abandon()) return false;
    empty();
    leave();
    return true;
}

bool ThreadHeap::empty_as_holder() noexcept {
    if (!enter()) return false;
    empty();
    leave();
    return true;
}

void ThreadHeap::receive(unsigned size_class, BlockChain& chain) noexcept {
    Queue& queue = queue_[size_class];
    chain.close();
    queue.blocks.fetch_add(chain.count(), std::memory_order_relaxed);
    void* head = queue.first.load(std::memory_order_relaxed);
    do {
        chain.join(head);
    } while (!queue.first.compare_exchange_weak(head, chain.first(), std::memory_order_release,
                                                std::memory_order_relaxed));
}

// A queue may still receive blocks of slabs that have moved: whoever collects it sends them on.
void ThreadHeap::move_slabs(unsigned size_class, ThreadHeap& target) noexcept {
    if (!enter()) return;
    while (Slab* const slab = bins_[size_class].slabs) {
        unlist(*slab);
        slab->owner.store(&target, std::memory_order_release);
        target.list(*slab);
        if (slab->used.load(std::memory_order_relaxed) == 0) {
            empty_units_.fetch_sub(slab->units, std::memory_order_relaxed);
            target.empty_units_.fetch_add(slab->units, std::memory_order_relaxed);
        }
    }
    leave();
}

std::uint32_t ThreadHeap::cached_blocks(unsigned size_class) const noexcept {
    return static_cast<std::uint32_t>(bins_[size_class].top.load(std::memory_order_relaxed) -
                                      slots(size_class));
}

std::uint32_t ThreadHeap::queued_blocks(unsigned size_class) const noexcept {
    return queue_[size_class].blocks.load(std::memory_order_relaxed);
}

}  // namespace ouro::detail
