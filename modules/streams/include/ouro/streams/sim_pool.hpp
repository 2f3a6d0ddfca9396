#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/base/handle.hpp>
#include <ouro/base/offset_ptr.hpp>
#include <ouro/base/sim_value.hpp>
#include <ouro/streams/image_heap.hpp>
#include <ouro/streams/image_owner.hpp>
#include <ouro/streams/past_reader.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace ouro {

template <class T>
class SimPool;
template <class T>
class SimPoolRef;

// Names an object of a SimPool; see Handle. T need not be known.
template <class T>
using SimHandle = Handle<SimPool<T>>;

// Objects named by handles, in an ImageHeap. They do not move: the pool grows by chunks, each as large as all
// before it. A handle kept too long is noticed, over rollbacks too, as the generations are part of the image.
// One that was kept outside of the image is of the future that it was made in: once that was rolled back, it
// names nothing, and then what is created in its stead, as the same calls give the same handles. Freed places
// are used again, the last one first. All zero is an empty pool; release() before what holds it goes.
//
//     struct World { SimPool<Creature> creatures; };
//     auto creatures = heap.bind(world.creatures);
//     const auto wolf = creatures.create({.health = 20});   // Expected<SimHandle<Creature>>
//     creatures.edit(*wolf)->health -= 3;
//     creatures.destroy(*wolf);                             // from now on find(*wolf) is null
template <class T>
class SimPool {
public:
    using Bound = SimPoolRef<T>;
    using Name = SimHandle<T>;
    static constexpr std::uint32_t kFirstChunk = 16;
    static constexpr std::uint32_t kMaxChunks = 23;

    [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
    [[nodiscard]] bool is_empty() const noexcept { return size_ == 0; }

    // In a past tick, of which this header is too. Fails with stale_handle; out_of_range for bytes that are
    // no pool.
    [[nodiscard]] Expected<T> find(const PastReader& past, Name handle) const noexcept {
        if (!has_sound_places()) return Status::out_of_range;
        const auto place = static_cast<std::uint32_t>(handle.index());
        if (!was_used(place)) return Status::stale_handle;
        const auto slot = past.load<Slot>(offset_of(place));
        if (!slot) return slot.status();
        if (slot->generation != handle.generation() || !slot->is_live()) return Status::stale_handle;
        return slot->item;
    }
    // Calls with each handle and object of a past tick, in the order of places.
    template <class Visit>
    Status visit(const PastReader& past, Visit&& visit_object) const noexcept {
        if (!has_sound_places()) return Status::out_of_range;
        for (std::uint32_t place = 0; place != next_; place = behind(place)) {
            const auto slot = past.load<Slot>(offset_of(place));
            if (!slot) return slot.status();
            if (slot->is_live()) visit_object(Name(place, slot->generation), slot->item);
        }
        return Status::ok;
    }

    // Walks all of it, as it must be to be read: ok, or corrupt_data.
    [[nodiscard]] Status check(ConstOffsetBase base) const noexcept;
    // And whether it can be memory of the heap, which is asked before the pool is changed.
    [[nodiscard]] Status check(const ImageHeap& heap) const noexcept {
        if (const Status status = check(heap.base()); status != Status::ok) return status;
        for (std::uint32_t chunk = 0; chunk < chunk_count_; ++chunk)
            if (!heap.can_have(chunks_[chunk], chunk_bytes(chunk))) return Status::corrupt_data;
        return Status::ok;
    }

    // For owner_source().
    [[nodiscard]] bool find_owner(ConstOffsetBase base, std::uint64_t offset,
                                  ImageOwner& owner) const noexcept {
        for (std::uint32_t chunk = 0; chunk < std::min(chunk_count_, kMaxChunks); ++chunk) {
            const std::uint64_t within = offset - chunks_[chunk];
            if (within >= chunk_bytes(chunk)) continue;
            const std::uint64_t number = within / sizeof(Slot);
            owner.offset = chunks_[chunk] + number * sizeof(Slot);
            owner.bytes = sizeof(Slot);
            owner.number = places_before(chunk) + number;
            Slot slot;
            if (owner.offset + sizeof(Slot) > base.size()) return false;
            std::memcpy(static_cast<void*>(&slot), base.start() + owner.offset, sizeof(Slot));
            // What lies behind the last place that was used holds anything.
            const bool is_live = owner.number < used() && slot.is_live();
            owner.kind = is_live ? OwnerKind::pool_object : OwnerKind::pool_place;
            return true;
        }
        return false;
    }

private:
    friend class SimPoolRef<T>;

    struct Slot {
        // Odd while an object lives there.
        std::uint32_t generation;
        // Of a free one, the place of the next free one, plus one.
        std::uint32_t next_free;
        T item;

        [[nodiscard]] bool is_live() const noexcept { return generation % 2 != 0; }
    };

    [[nodiscard]] static constexpr std::uint32_t chunk_size(std::uint32_t chunk) noexcept {
        return kFirstChunk << chunk;
    }
    // How many places the chunks before this one have.
    [[nodiscard]] static constexpr std::uint32_t places_before(std::uint32_t chunk) noexcept {
        return chunk_size(chunk) - kFirstChunk;
    }
    [[nodiscard]] static constexpr std::uint64_t chunk_bytes(std::uint32_t chunk) noexcept {
        return std::uint64_t{chunk_size(chunk)} * sizeof(Slot);
    }
    // A place is the number of its chunk and, in the lower bits, its number there: it is found without
    // looking for the chunk.
    static constexpr std::uint32_t kPlaceBits = 27;
    static_assert(chunk_size(kMaxChunks) == std::uint32_t{1} << kPlaceBits);
    [[nodiscard]] static constexpr std::uint32_t chunk_of(std::uint32_t place) noexcept {
        return place >> kPlaceBits;
    }
    [[nodiscard]] static constexpr std::uint32_t within_of(std::uint32_t place) noexcept {
        return place & ((std::uint32_t{1} << kPlaceBits) - 1);
    }
    [[nodiscard]] static constexpr std::uint32_t behind(std::uint32_t place) noexcept {
        const std::uint32_t chunk = chunk_of(place);
        return within_of(place) + 1 == chunk_size(chunk) ? (chunk + 1) << kPlaceBits : place + 1;
    }
    // For handles that may be of anything.
    [[nodiscard]] bool was_used(std::uint32_t place) const noexcept {
        return place < next_ && within_of(place) < chunk_size(chunk_of(place));
    }
    [[nodiscard]] std::uint32_t used() const noexcept {
        return places_before(chunk_of(next_)) + within_of(next_);
    }
    // Whether going from place to place stays within the chunks, and comes to an end.
    [[nodiscard]] bool has_sound_places() const noexcept {
        const std::uint32_t chunk = chunk_of(next_);
        if (chunk_count_ > kMaxChunks || chunk > chunk_count_) return false;
        return chunk == chunk_count_ ? within_of(next_) == 0 : within_of(next_) < chunk_size(chunk);
    }
    // Where it is in the image. Requires: the place was used.
    [[nodiscard]] std::uint64_t offset_of(std::uint32_t place) const noexcept {
        return chunks_[chunk_of(place)] + std::uint64_t{within_of(place)} * sizeof(Slot);
    }

    std::uint32_t size_ = 0;
    // The first place that was never used. Those before it were.
    std::uint32_t next_ = 0;
    // The first of them that is free, plus one.
    std::uint32_t free_ = 0;
    // What the generations of new places follow: even, and above all that were before release().
    std::uint32_t era_ = 0;
    std::uint32_t chunk_count_ = 0;
    std::array<std::uint32_t, kMaxChunks> chunks_{};
};

template <class T>
inline constexpr bool kIsSimValue<SimPool<T>> = true;
static_assert(sizeof(SimPool<int>) == 112 && alignof(SimPool<int>) == 4);
static_assert(std::is_standard_layout_v<SimPool<int>> && SimKey<SimPool<int>>);

// Tells reports which place of the pool has a byte, counted from zero in the order of iteration. Requires:
// the pool lies in the image that is asked about.
template <class T>
[[nodiscard]] OwnerSource owner_source(std::string_view name, const SimPool<T>& pool) noexcept {
    return {.name = name,
            .context = &pool,
            .find = [](const void* context, ConstOffsetBase base, std::uint64_t offset, ImageOwner& owner) {
                return static_cast<const SimPool<T>*>(context)->find_owner(base, offset, owner);
            }};
}

template <class T>
Status SimPool<T>::check(ConstOffsetBase base) const noexcept {
    if (!has_sound_places() || era_ % 2 != 0) return Status::corrupt_data;
    for (std::uint32_t chunk = 0; chunk < kMaxChunks; ++chunk) {
        const std::uint32_t offset = chunks_[chunk];
        if ((offset != 0) != (chunk < chunk_count_)) return Status::corrupt_data;
        if (offset > base.size() || offset % alignof(Slot) != 0 ||
            (offset != 0 && chunk_bytes(chunk) > base.size() - offset))
            return Status::corrupt_data;
    }
    const auto slot = [&](std::uint32_t place) -> const Slot& {
        return *reinterpret_cast<const Slot*>(base.start() + offset_of(place));
    };
    std::uint32_t live = 0;
    for (std::uint32_t place = 0; place != next_; place = behind(place))
        live += slot(place).is_live() ? 1U : 0U;
    if (live != size_) return Status::corrupt_data;
    // A list that runs in a circle is longer than there are free places.
    std::uint32_t free_places = 0;
    for (std::uint32_t next = free_; next != 0; next = slot(next - 1).next_free) {
        if (!was_used(next - 1) || slot(next - 1).is_live() || ++free_places > used() - size_)
            return Status::corrupt_data;
    }
    return free_places == used() - size_ ? Status::ok : Status::corrupt_data;
}

// The operations of a SimPool in the image; see ImageHeap::bind. Those that fail do so as ImageHeap::allocate
// does, and leave the pool as it was.
template <class T>
class SimPoolRef {
    static_assert(require_sim_value<T>());
    static_assert(alignof(T) <= 64, "objects of a pool stand on 64 bytes at most");
    using Pool = SimPool<T>;
    using Slot = typename Pool::Slot;

public:
    using Name = typename Pool::Name;

    struct Object {
        Name handle;
        const T& value;
    };

    // In the order of places. Destroying does not disturb it; what is created meanwhile may be visited or
    // not.
    class Iterator {
    public:
        Iterator(const SimPoolRef& pool, std::uint32_t place) noexcept : pool_(&pool), place_(place) {}

        [[nodiscard]] Object operator*() const noexcept {
            const Slot& slot = pool_->slot(place_);
            return {Name(place_, slot.generation), slot.item};
        }
        Iterator& operator++() noexcept {
            place_ = pool_->live_from(Pool::behind(place_));
            return *this;
        }
        friend bool operator==(const Iterator& a, const Iterator& b) noexcept { return a.place_ == b.place_; }

    private:
        const SimPoolRef* pool_;
        std::uint32_t place_;
    };

    SimPoolRef(ImageHeap& heap, Pool& stored) noexcept : heap_(&heap), stored_(&stored) {}

    [[nodiscard]] std::uint32_t size() const noexcept { return stored_->size_; }
    [[nodiscard]] bool is_empty() const noexcept { return stored_->size_ == 0; }
    [[nodiscard]] Iterator begin() const noexcept { return {*this, live_from(0)}; }
    [[nodiscard]] Iterator end() const noexcept { return {*this, UINT32_MAX}; }

    // Null when the handle is null or its object is gone.
    [[nodiscard]] const T* find(Name handle) const noexcept {
        const auto place = static_cast<std::uint32_t>(handle.index());
        if (!stored_->was_used(place)) return nullptr;
        const Slot& there = slot(place);
        return there.generation == handle.generation() && there.is_live() ? &there.item : nullptr;
    }
    // The object for writing, which is declared; null as above.
    [[nodiscard]] T* edit(Name handle) noexcept {
        const T* const found = find(handle);
        return found == nullptr ? nullptr : &heap_->edit(*found);
    }

    [[nodiscard]] Expected<Name> create(const T& value = {}) noexcept {
        if (stored_->free_ != 0) {
            const std::uint32_t place = stored_->free_ - 1;
            return begin_life(place, slot(place).generation, slot(place).next_free, value);
        }
        const std::uint32_t place = stored_->next_;
        if (Pool::chunk_of(place) == stored_->chunk_count_) [[unlikely]] {
            if (const Status status = add_chunk(); status != Status::ok) return status;
        }
        heap_->edit(*stored_).next_ = Pool::behind(place);
        return begin_life(place, stored_->era_, 0, value);
    }
    // ok, or stale_handle.
    Status destroy(Name handle) noexcept {
        if (find(handle) == nullptr) return Status::stale_handle;
        end_life(static_cast<std::uint32_t>(handle.index()));
        return Status::ok;
    }

    // Room for so many objects without another allocation. What was allocated before a failure stays.
    Status reserve(std::uint32_t objects) noexcept {
        while (Pool::places_before(stored_->chunk_count_) < objects) {
            if (const Status status = add_chunk(); status != Status::ok) return status;
        }
        return Status::ok;
    }
    // Destroys all objects and keeps the memory.
    void clear() noexcept {
        for (std::uint32_t place = live_from(0); place != UINT32_MAX; place = live_from(Pool::behind(place)))
            end_life(place);
    }
    // Destroys all objects and gives the memory back. Old handles stay stale.
    void release() noexcept;

private:
    [[nodiscard]] std::byte* at(std::uint64_t offset) const noexcept {
        return heap_->base().start() + offset;
    }
    [[nodiscard]] const Slot& slot(std::uint32_t place) const noexcept {
        return *reinterpret_cast<const Slot*>(at(stored_->offset_of(place)));
    }
    [[nodiscard]] std::uint32_t live_from(std::uint32_t place) const noexcept {
        while (place < stored_->next_ && !slot(place).is_live())
            place = Pool::behind(place);
        return place < stored_->next_ ? place : UINT32_MAX;
    }

    // Generations wrap around from the last even one to zero.
    Name begin_life(std::uint32_t place, std::uint32_t generation, std::uint32_t next_free,
                    const T& value) noexcept {
        Slot& there = heap_->edit(slot(place));
        // What lies between the numbers and the object, and behind it, is nobody's.
        if constexpr (sizeof(Slot) != 2 * sizeof(std::uint32_t) + sizeof(T))
            std::memset(static_cast<void*>(&there), 0, sizeof(Slot));
        there.generation = generation + 1;
        there.next_free = 0;
        there.item = value;
        Pool& stored = heap_->edit(*stored_);
        stored.free_ = next_free;
        ++stored.size_;
        return Name(place, generation + 1);
    }
    void end_life(std::uint32_t place) noexcept {
        Slot& there = const_cast<Slot&>(slot(place));
        heap_->mark(&there, offsetof(Slot, item));
        ++there.generation;
        there.next_free = stored_->free_;
        Pool& stored = heap_->edit(*stored_);
        stored.free_ = place + 1;
        --stored.size_;
    }
    Status add_chunk() noexcept;

    ImageHeap* heap_;
    Pool* stored_;
};

template <class T>
Status SimPoolRef<T>::add_chunk() noexcept {
    const std::uint32_t chunk = stored_->chunk_count_;
    if (chunk == Pool::kMaxChunks) return Status::capacity_exhausted;
    const std::uint64_t bytes = Pool::chunk_bytes(chunk);
    if (bytes >= heap_->base().size()) return Status::capacity_exhausted;
    const auto block = heap_->allocate_unclear(static_cast<std::size_t>(bytes), alignof(Slot));
    if (!block) return block.status();
    Pool& stored = heap_->edit(*stored_);
    stored.chunks_[chunk] = heap_->offset_of(block->data);
    ++stored.chunk_count_;
    return Status::ok;
}

template <class T>
void SimPoolRef<T>::release() noexcept {
    std::uint32_t era = stored_->era_;
    for (std::uint32_t place = 0; place != stored_->next_; place = Pool::behind(place))
        era = std::max(era, slot(place).generation + slot(place).generation % 2);
    for (std::uint32_t chunk = 0; chunk < stored_->chunk_count_; ++chunk)
        heap_->deallocate({at(stored_->chunks_[chunk]), static_cast<std::size_t>(Pool::chunk_bytes(chunk))});
    heap_->edit(*stored_) = {};
    stored_->era_ = era;
}

}  // namespace ouro
