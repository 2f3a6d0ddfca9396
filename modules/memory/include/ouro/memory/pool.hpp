#pragma once

#include <ouro/base/handle.hpp>
#include <ouro/memory/detail/block_assert.hpp>
#include <ouro/memory/detail/pool_owner.hpp>
#include <ouro/memory/growing_range.hpp>
#include <ouro/memory/pool_core.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>

namespace ouro {

// Objects of one type that stay where they are, named by handles that notice when their object is gone.
//
//     auto creatures = Pool<Creature>::create({.max_objects = 10'000});
//     auto handle = creatures->emplace(x, y);             // or make(x, y) for a plain pointer
//     if (Creature* creature = creatures->get(*handle)) ...  // null once it was destroyed
//     for (Creature& creature : *creatures) ...
//
// For one thread at a time. Index and generation are split as HandleType does; a slot's handles repeat after
// half as many occupants as there are generations, and are never null. Objects lie at multiples of kAlign
// where that is more than the type asks for: 64 keeps objects that different cores write on lines of their
// own.
//
// With ThreadSafety::free_from_any_thread, as in SharedPool, one thread owns the pool, the one that made it
// until another binds it to itself, and makes objects; every thread may destroy them and ask for them by
// handle. Of several that destroy by the same handle one succeeds, and the others are told stale_handle.
// Nothing waits. Whoever uses an object sees to it that nobody destroys it meanwhile, as ever; all else is
// the owner's, and iterating, clear(), trim() and check() are for when no other thread destroys.
template <class T, class HandleType = Handle<T>, std::size_t kAlign = 1,
          ThreadSafety kSafety = ThreadSafety::single_thread>
class Pool {
    static_assert(kSafety != ThreadSafety::any_thread, "one thread at a time makes objects in a pool");
    static_assert(is_alignment(kAlign), "an alignment is a power of two");
    static constexpr bool kIsShared = kSafety == ThreadSafety::free_from_any_thread;
    static_assert(std::is_destructible_v<T> && std::is_object_v<T> && !std::is_array_v<T>);
    // As small as the handles allow.
    template <std::uintmax_t kMax>
    using Narrowest =
        std::conditional_t<kMax <= 0xFFFF, std::uint16_t,
                           std::conditional_t<kMax <= 0xFFFF'FFFF, std::uint32_t, std::uint64_t>>;
    using Generation = Narrowest<HandleType::kMaxGeneration>;

public:
    struct Options {
        const char* name = "objects";
        Tag tag = {};
        // At most HandleType::kMaxIndex + 1.
        std::size_t max_objects = std::size_t{1} << 20;
        std::size_t initial_objects = 0;
        double growth_factor = 2.0;
        // As PoolOptions say, of the objects; generations stay where they are.
        double shrink_threshold = 0.0;
        std::size_t prewarm_bytes = 0;
    };

    // On reserved addresses of its own. Fails as PoolAllocator::create, and with out_of_range for more
    // objects than handles can name.
    [[nodiscard]] static Expected<Pool> create(const Options& options) noexcept {
        return build(options, nullptr);
    }
    // On two blocks of another resource, which must live longer.
    [[nodiscard]] static Expected<Pool> create_on(MemoryResource& upstream, const Options& options) noexcept {
        return build(options, &upstream);
    }

    Pool(Pool&&) noexcept = default;
    // Destroys the objects that are there.
    Pool& operator=(Pool&& other) noexcept {
        if (this != &other) {
            std::destroy_at(this);
            std::construct_at(this, std::move(other));
        }
        return *this;
    }
    ~Pool() { clear(); }

    // A new object and its handle. Fails with capacity_exhausted, or with out_of_memory or sealed when it has
    // to grow; nothing was built then.
    template <class... Arguments>
    [[nodiscard]] Expected<HandleType> emplace(Arguments&&... arguments) noexcept {
        const auto made = make(std::forward<Arguments>(arguments)...);
        if (!made) return made.status();
        return handle_of(*made);
    }

    // The same as a plain pointer.
    template <class... Arguments>
    [[nodiscard]] Expected<T*> make(Arguments&&... arguments) noexcept {
        OURO_DEBUG_ASSERT(is_owner(), "only the owner's thread makes objects");
        const auto block = core_.take();
        if (!block) return block.status();
        const std::size_t index = index_of(block->data);
        if (index >= generation_count()) [[unlikely]] {
            const Status grown = generations_.grow((index + 1) * sizeof(Generation)).status();
            if (grown != Status::ok) {
                core_.give_back(block->data);
                return grown;
            }
            annotate::permit_written({generations_.whole().data, generations_.usable_bytes()});
        }
        T* object =
            std::construct_at(reinterpret_cast<T*>(block->data), std::forward<Arguments>(arguments)...);
        set_generation(index, next(generation(index)));
        return object;
    }

    // Fails with stale_handle when the object is gone already.
    Status destroy(HandleType handle) noexcept {
        if constexpr (kIsShared) {
            if (!names_live(handle)) return Status::stale_handle;
            const auto index = static_cast<std::size_t>(handle.index());
            return end_shared(index, static_cast<Generation>(handle.generation())) ? Status::ok
                                                                                   : Status::stale_handle;
        }
        T* object = get(handle);
        if (object == nullptr) return Status::stale_handle;
        destroy(object);
        return Status::ok;
    }

    // Requires: an object of this pool that is there (assert).
    void destroy(T* object) noexcept {
        const Generation seen = generation_of(object);
        OURO_BLOCK_ASSERT(is_live(seen), "the pool has no such object", name_, object);
        const std::size_t index = index_of(object);
        if constexpr (kIsShared) {
            // With what was seen above: the slot may have changed since, and then nothing of it is ours.
            const bool was_there = end_shared(index, seen);
            OURO_BLOCK_ASSERT(was_there, "the pool has no such object", name_, object);
            return;
        }
        end_life(index);
        core_.give_back(reinterpret_cast<std::byte*>(object));
    }

    // The calling thread is the owner from now on. Requires: what the owner before did happened before this,
    // and it does no more.
    void bind_to_this_thread() noexcept { owner_.bind_to_this_thread(); }
    [[nodiscard]] bool is_owner() const noexcept { return owner_.is_this_thread(); }

    // The object, or null when the handle is stale or null.
    [[nodiscard]] T* get(HandleType handle) noexcept {
        return names_live(handle) ? slot(static_cast<std::size_t>(handle.index())) : nullptr;
    }
    [[nodiscard]] const T* get(HandleType handle) const noexcept {
        return names_live(handle) ? slot(static_cast<std::size_t>(handle.index())) : nullptr;
    }

    // Requires: an object of this pool that is there.
    [[nodiscard]] HandleType handle_of(const T* object) const noexcept {
        OURO_DEBUG_BLOCK_ASSERT(holds(object), "the pool has no such object", name_, object);
        const std::size_t index = index_of(object);
        using Word = decltype(HandleType{}.bits());
        return HandleType(static_cast<Word>(index), static_cast<Word>(generation(index)));
    }

    // Destroys all objects; every handle is stale then. A destructor may destroy others, but make none.
    void clear() noexcept {
        for (std::size_t index = 0; index < slot_count(); ++index) {
            if (is_live(generation(index))) end_life(index);
        }
        core_.reset();
    }

    // Gives memory behind the last object back; returns the bytes, none under a seal. Generations stay.
    std::size_t trim() noexcept { return core_.trim(); }

    [[nodiscard]] std::size_t count() const noexcept { return core_.live_blocks(); }
    [[nodiscard]] bool is_empty() const noexcept { return count() == 0; }
    [[nodiscard]] const char* name() const noexcept { return name_; }
    [[nodiscard]] bool owns(const void* address) const noexcept { return core_.owns(address); }
    [[nodiscard]] ResourceStats stats() const noexcept { return core_.stats(); }
    [[nodiscard]] PoolStats pool_stats() const noexcept { return core_.pool_stats(); }

    // ok, or corrupt_data: also when the objects marked as live are not as many as the blocks in use.
    [[nodiscard]] Status check() const noexcept {
        std::size_t live = 0;
        for (std::size_t index = 0; index < slot_count(); ++index)
            live += is_live(generation(index)) ? 1U : 0U;
        return live == count() ? core_.check() : Status::corrupt_data;
    }

    // Visits the objects in the order of their addresses. The one visited may be destroyed, and others may be
    // made or destroyed; whether new ones are visited is not said.
    template <class PoolType, class Object>
    class BasicIterator {
    public:
        using iterator_category = std::forward_iterator_tag;
        using value_type = T;
        using difference_type = std::ptrdiff_t;
        using pointer = Object*;
        using reference = Object&;

        BasicIterator() noexcept = default;
        BasicIterator(PoolType* pool, std::size_t index) noexcept : pool_(pool), index_(index) { skip(); }

        [[nodiscard]] Object& operator*() const noexcept { return *pool_->slot(index_); }
        [[nodiscard]] Object* operator->() const noexcept { return pool_->slot(index_); }
        BasicIterator& operator++() noexcept {
            ++index_;
            skip();
            return *this;
        }
        BasicIterator operator++(int) noexcept {
            const BasicIterator before = *this;
            ++*this;
            return before;
        }
        friend bool operator==(const BasicIterator& one, const BasicIterator& other) noexcept {
            return one.index_ == other.index_;
        }
        friend bool operator==(const BasicIterator& one, std::default_sentinel_t) noexcept {
            return one.is_at_end();
        }

    private:
        [[nodiscard]] bool is_at_end() const noexcept { return index_ >= pool_->slot_count(); }
        void skip() noexcept {
            const std::size_t end = pool_->slot_count();
            while (index_ < end && !is_live(pool_->generation(index_)))
                ++index_;
        }

        PoolType* pool_ = nullptr;
        std::size_t index_ = 0;
    };
    using Iterator = BasicIterator<Pool, T>;
    using ConstIterator = BasicIterator<const Pool, const T>;

    [[nodiscard]] Iterator begin() noexcept { return {this, 0}; }
    [[nodiscard]] ConstIterator begin() const noexcept { return {this, 0}; }
    [[nodiscard]] std::default_sentinel_t end() const noexcept { return {}; }

private:
    // A slot's generation goes up when an object is built and when it is destroyed, so that odd ones are
    // those of live objects; after the last comes zero.
    [[nodiscard]] static constexpr bool is_live(Generation generation) noexcept {
        return (generation & 1) != 0;
    }
    [[nodiscard]] static constexpr Generation next(Generation generation) noexcept {
        return static_cast<Generation>((generation + 1) & HandleType::kMaxGeneration);
    }

    // The distance of two objects, known to the compiler, so that finding an index is no division.
    static constexpr std::size_t kAlignment = std::max({kAlign, alignof(T), alignof(void*)});
    static constexpr std::size_t kStride =
        (std::max(sizeof(T), sizeof(void*)) + kAlignment - 1) / kAlignment * kAlignment;

    [[nodiscard]] static Expected<Pool> build(const Options& options, MemoryResource* upstream) noexcept {
        if (options.max_objects == 0) return Status::zero_size;
        if (options.max_objects - 1 > HandleType::kMaxIndex) return Status::out_of_range;
        const PoolOptions blocks{.name = options.name,
                                 .tag = options.tag,
                                 .block_bytes = kStride,
                                 .alignment = kAlignment,
                                 .initial_blocks = options.initial_objects,
                                 .max_blocks = options.max_objects,
                                 .growth_factor = options.growth_factor,
                                 .shrink_threshold = options.shrink_threshold,
                                 .prewarm_bytes = options.prewarm_bytes};
        auto core = upstream == nullptr ? PoolCore::reserve(blocks) : PoolCore::borrow(*upstream, blocks);
        if (!core) return core.status();
        const auto bytes = checked_multiply(options.max_objects, sizeof(Generation));
        if (!bytes) return bytes.status();
        auto generations =
            upstream == nullptr
                ? GrowingRange::reserve(
                      {.max_bytes = *bytes, .name = "generations of objects", .tag = options.tag})
                : GrowingRange::borrow(*upstream, *bytes, "generations of objects", options.tag);
        if (!generations) return generations.status();
        annotate::permit_written({generations->whole().data, generations->usable_bytes()});
        // Memory of the system is zero already; that of others is not.
        if (upstream != nullptr) std::fill_n(generations->whole().data, *bytes, std::byte{0});
        // Other threads ask for any of them, at any time.
        if constexpr (kIsShared) {
            if (const auto grown = generations->grow(*bytes); !grown) return grown.status();
            annotate::permit_written({generations->whole().data, generations->usable_bytes()});
        }
        return Pool(*std::move(core), *std::move(generations), options.name);
    }

    Pool(PoolCore core, GrowingRange generations, const char* name) noexcept
        : core_(std::move(core)), generations_(std::move(generations)), name_(name) {}

    [[nodiscard]] std::size_t index_of(const void* address) const noexcept {
        return static_cast<std::size_t>(static_cast<const std::byte*>(address) - core_.begin()) / kStride;
    }
    [[nodiscard]] T* slot(std::size_t index) const noexcept {
        return reinterpret_cast<T*>(core_.begin() + index * kStride);
    }
    [[nodiscard]] Generation* generations() const noexcept {
        return reinterpret_cast<Generation*>(generations_.whole().data);
    }
    [[nodiscard]] Generation generation(std::size_t index) const noexcept {
        if constexpr (kIsShared) return std::atomic_ref(generations()[index]).load(std::memory_order_acquire);
        return generations()[index];
    }
    void set_generation(std::size_t index, Generation generation) noexcept {
        if constexpr (kIsShared) {
            std::atomic_ref(generations()[index]).store(generation, std::memory_order_release);
        } else {
            generations()[index] = generation;
        }
    }
    // Generations that have memory: those of all objects, and some more.
    [[nodiscard]] std::size_t generation_count() const noexcept {
        return generations_.usable_bytes() / sizeof(Generation);
    }
    // Slots in which an object may be.
    [[nodiscard]] std::size_t slot_count() const noexcept {
        return std::min(index_of(core_.touched_end()), generation_count());
    }
    [[nodiscard]] bool names_live(HandleType handle) const noexcept {
        const auto index = static_cast<std::size_t>(handle.index());
        return index < generation_count() && is_live(static_cast<Generation>(handle.generation())) &&
               generation(index) == handle.generation();
    }
    // Of its slot; that of no live object where there is no slot.
    [[nodiscard]] Generation generation_of(const T* object) const noexcept {
        const auto offset =
            reinterpret_cast<std::uintptr_t>(object) - reinterpret_cast<std::uintptr_t>(core_.begin());
        const std::size_t index = offset / kStride;
        const bool is_slot = offset % kStride == 0 && index < generation_count();
        return is_slot ? generation(index) : Generation{0};
    }
    [[nodiscard]] bool holds(const T* object) const noexcept { return is_live(generation_of(object)); }
    void end_life(std::size_t index) noexcept {
        // Its own handle names the object until the destructor has run.
        std::destroy_at(slot(index));
        set_generation(index, next(generation(index)));
    }
    // The same where others may want it at the same time: whoever makes the handle stale has the object to
    // itself, and the slot is not used again before it came back. False when another was first. Requires: the
    // generation is that of a live object.
    bool end_shared(std::size_t index, Generation live) noexcept {
        if (!std::atomic_ref(generations()[index])
                 .compare_exchange_strong(live, next(live), std::memory_order_acq_rel,
                                          std::memory_order_relaxed))
            return false;
        T* const object = slot(index);
        std::destroy_at(object);
        auto* const block = reinterpret_cast<std::byte*>(object);
        if (is_owner()) {
            core_.give_back(block);
        } else {
            core_.give_back_remotely(block);
        }
        return true;
    }

    // Their order is the order in which a resource below sees them come, and go in reverse.
    PoolCore core_;
    GrowingRange generations_;
    const char* name_;
    [[no_unique_address]] detail::PoolOwner<kSafety> owner_;
};

// Made by one thread, destroyed by any.
template <class T, class HandleType = Handle<T>, std::size_t kAlign = 1>
using SharedPool = Pool<T, HandleType, kAlign, ThreadSafety::free_from_any_thread>;

}  // namespace ouro
