#pragma once

#include <ouro/base/align.hpp>
#include <ouro/base/assert.hpp>
#include <ouro/base/expected.hpp>
#include <ouro/base/memory_block.hpp>
#include <ouro/memory/detail/block_assert.hpp>
#include <ouro/memory/detail/build_settings.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace ouro {

#ifndef OURO_DEFAULT_ALIGNMENT
#    define OURO_DEFAULT_ALIGNMENT 16
#endif

// What an allocation is aligned to when nothing else is said: at least enough for every scalar and SSE
// vector, on all platforms. Chosen when the library is built; who uses it must see the same.
inline constexpr std::size_t kDefaultAlignment = OURO_DEFAULT_ALIGNMENT;
static_assert(kDefaultAlignment == 16 || kDefaultAlignment == 32 || kDefaultAlignment == 64,
              "OURO_DEFAULT_ALIGNMENT is 16, 32 or 64");

// The largest alignment that can be asked for, that of the largest pages there are; and the largest size,
// beyond which the distance between two bytes of a block has no value. A resource may have less of either.
inline constexpr std::size_t kMaxAlignment = std::size_t{1} << 30;
inline constexpr std::size_t kMaxAllocationBytes = PTRDIFF_MAX;

namespace detail {
OURO_ASK_FOR_SETTING(OURO_DEFAULT_ALIGNMENT_, OURO_DEFAULT_ALIGNMENT)
}  // namespace detail

enum class ThreadSafety : std::uint8_t {
    // One thread at a time; the caller sees to it.
    single_thread,
    // One thread allocates; any may deallocate.
    free_from_any_thread,
    any_thread,
};

// What a resource is, for reports and for those who choose one at run time.
struct ResourceInfo {
    std::string_view name;
    ThreadSafety thread_safety = ThreadSafety::single_thread;
    // False where deallocate alone gives nothing back: memory returns with a reset, a marker or the end.
    bool frees_blocks = true;
    // The sizes that requests are rounded up to, ascending; a large alignment may ask for a larger one.
    // Requests beyond the last are served in other ways, or not at all. Empty where sizes have no such steps.
    // A decorator passes on those of the resource below. Lives as long as the resource stays where it is.
    std::span<const std::size_t> size_classes{};
};

// Where a resource stood when it was asked: what was allocated since can be freed at once. The words mean
// something to that resource only.
struct ResourceMark {
    // What a decorator must know beside the mark of the resource below it.
    struct Level {
        std::size_t bytes = 0;
        std::uint64_t blocks = 0;
        // How many marks of the decorator were open already.
        std::size_t marks = 0;
    };
    static constexpr std::size_t kMaxLevels = 3;

    // Adds a decorator's own part; false when there are too many of them on top of each other.
    [[nodiscard]] constexpr bool push(Level level) noexcept {
        if (level_count == kMaxLevels) return false;
        levels[level_count++] = level;
        return true;
    }
    // Takes the part off again that was added last. Requires: there is one (assert).
    constexpr Level pop() noexcept {
        OURO_ASSERT(level_count != 0, "the mark is of another resource");
        return levels[--level_count];
    }

    std::size_t used_bytes = 0;
    std::size_t live_blocks = 0;
    std::array<Level, kMaxLevels> levels{};
    std::size_t level_count = 0;
};

// What a resource has done and holds. Exact at the moment of the call when no other thread uses the resource.
struct ResourceStats {
    // Bytes handed out and not returned, as sizes of the blocks; the most there ever were.
    std::size_t live_bytes = 0;
    std::size_t peak_bytes = 0;
    std::size_t live_blocks = 0;
    // Addresses held, and the part of them with memory behind.
    std::size_t reserved_bytes = 0;
    std::size_t committed_bytes = 0;
    std::uint64_t allocations = 0;
    // Calls of allocate and reallocate that failed, whatever the reason: a request that makes no sense counts
    // like one that cannot be had. A try_resize that is refused is none, for the block is what it was.
    // Counted once, by whoever was asked: what a decorator refuses itself, the resource below has not seen.
    std::uint64_t failures = 0;
};

// The contract that every allocator of the suite fulfils and every decorator passes on. Size and alignment
// are given at both ends, so that no block needs a header. Failures are values; nothing throws, and no memory
// comes from anywhere but the resource itself and those it was built on.
//
// Calls through the type of a strategy itself are direct. The common paths of FrameAllocator, StackAllocator,
// the ends of a TwoEndedStack, the pools, SmallObjectAllocator and Partition for one thread are inline too,
// and so are the allocations of HugePageArena and those of small blocks by TlsfAllocator. SystemAllocator,
// Partition for any thread, FallbackChain and TaggedAllocator are one call away; a BasicTaggedAllocator or
// ChargedAllocator of a strategy's own type adds its counting inline.
//
// Through this type calls are virtual, and work across shared libraries and compilers that share the
// platform's C++ ABI. The order of the functions is part of that ABI: append only. Those with a default stay
// inline: a first one defined in a source file would tie the type information of whoever derives from this
// class to that file, which is compiled without any.
//
// Whoever derives from it repeats the default alignment, so that a call means the same by either type.
class MemoryResource {
public:
    // At least `size` bytes at a multiple of `alignment`, unspecified; the block may be larger, and all of it
    // used. What makes no sense is refused by every resource alike, as check_allocation says: zero_size,
    // bad_alignment or size_overflow. What makes sense and cannot be had fails with out_of_memory,
    // out_of_address_space, too_many_mappings, capacity_exhausted, sealed (see seal.hpp) or, under a
    // TaggedAllocator, budget_exceeded or rate_limited; with bad_alignment also where the resource states a
    // largest alignment of its own, as pools do. Nothing is changed then.
    [[nodiscard]] virtual Expected<MemoryBlock> allocate(
        std::size_t size, std::size_t alignment = kDefaultAlignment) noexcept = 0;

    // Takes back a block of this resource or an equal one. Requires: the address and alignment of its
    // allocation, and a size from what was asked to what was given. So the alignment may be left out where it
    // was left out there, or was kDefaultAlignment: it is part of what is said at both ends, not a hint. A
    // guarded allocator of tier checked or hardened reports another one; without, the block may go where it
    // does not belong. A null block is ignored.
    virtual void deallocate(MemoryBlock block, std::size_t alignment = kDefaultAlignment) noexcept = 0;

    // The block with a new size, in place where possible; else its bytes are moved, up to the smaller size,
    // and the old block is gone. When it fails, the old block is as it was. Requires: as for deallocate. A
    // null block is allocated.
    [[nodiscard]] virtual Expected<MemoryBlock> reallocate(
        MemoryBlock block, std::size_t new_size, std::size_t alignment = kDefaultAlignment) noexcept = 0;

    // True when blocks of one may be returned to the other.
    [[nodiscard]] virtual bool is_equal(const MemoryResource& other) const noexcept { return this == &other; }

    // True when the address lies in memory that this resource hands out from, whether or not it is allocated
    // now.
    [[nodiscard]] virtual bool owns(const void* address) const noexcept = 0;

    [[nodiscard]] virtual ResourceInfo info() const noexcept = 0;
    [[nodiscard]] virtual ResourceStats stats() const noexcept = 0;

    // Walks everything the resource knows and verifies it: ok, or corrupt_data. Not for hot paths.
    [[nodiscard]] virtual Status check() const noexcept = 0;

    // The block with a new size at the same address; where that cannot be, a failure, and the block is as it
    // was: not_supported where the resource never changes blocks in place, capacity_exhausted where there is
    // no room behind this one now, and as allocate. Requires: as for deallocate, and a block that is not
    // null.
    [[nodiscard]] virtual Expected<MemoryBlock> try_resize(
        [[maybe_unused]] MemoryBlock block, [[maybe_unused]] std::size_t new_size,
        [[maybe_unused]] std::size_t alignment = kDefaultAlignment) noexcept {
        return Status::not_supported;
    }

    // A mark for free_since. Fails with not_supported where blocks are not freed in the order of their ages,
    // and with capacity_exhausted where too many decorators stand on each other.
    [[nodiscard]] virtual Expected<ResourceMark> place_mark() noexcept { return Status::not_supported; }

    // Frees all that was allocated since the mark was placed. An older block that was moved or has grown
    // since is gone too, at least in part, and must not be used any more. Requires: a mark of this resource,
    // which has not been reset or freed below it since (assert).
    virtual void free_since([[maybe_unused]] ResourceMark mark) noexcept {
        OURO_BLOCK_ASSERT(false, "the resource has no marks", *this, nullptr);
    }

protected:
    // Resources belong to whoever made them: they are not copied, moved or destroyed through this type.
    MemoryResource() noexcept = default;
    MemoryResource(const MemoryResource&) noexcept = default;
    MemoryResource& operator=(const MemoryResource&) noexcept = default;
    ~MemoryResource() = default;
};

// What is wrong with a request whoever is asked, in this order: zero_size; bad_alignment for zero, for what
// is no power of two and beyond kMaxAlignment; size_overflow beyond kMaxAllocationBytes. What a resource
// rounds a block up to, or puts around it, counts as part of it.
//
// Hot paths ask this too: one comparison for the size and two for the alignment, as zero and the power of two
// alone would take, and none where they are constants. What exactly is wrong is found out afterwards.
[[nodiscard]] constexpr Status check_allocation(std::size_t size, std::size_t alignment) noexcept {
    const bool has_alignment = alignment - 1 < kMaxAlignment && (alignment & (alignment - 1)) == 0;
    static_assert(kMaxAllocationBytes == PTRDIFF_MAX, "a size is sound when its sign is");
    if (static_cast<std::ptrdiff_t>(size) > 0 && has_alignment) [[likely]]
        return Status::ok;
    if (size == 0) return Status::zero_size;
    return has_alignment ? Status::size_overflow : Status::bad_alignment;
}

// A new block with the bytes of the old one, which is returned: what is left when a block cannot change in
// place.
[[nodiscard]] Expected<MemoryBlock> move_to_new_block(MemoryResource& resource, MemoryBlock block,
                                                      std::size_t new_size, std::size_t alignment) noexcept;

}  // namespace ouro
