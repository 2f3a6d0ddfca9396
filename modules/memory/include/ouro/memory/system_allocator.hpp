#pragma once

#include <ouro/memory/block_registry.hpp>
#include <ouro/memory/detail/page_map.hpp>
#include <ouro/memory/detail/word_lock.hpp>
#include <ouro/memory/memory_resource.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace ouro {

// Whole pages straight from the operating system, for large blocks and for other resources to stand on. Each
// block has pages of its own, which go back when it is freed; a few freed ranges are kept for the next
// allocation of their size. From any thread.
//
//     auto system = SystemAllocator::create({.max_bytes = std::size_t{4} << 30});
//
// A block is at least a page, and sizes are rounded up in steps of an eighth of their power of two: small
// allocations belong elsewhere.
class SystemAllocator final : public MemoryResource {
public:
    struct Options {
        const char* name = "system";
        Tag tag = {};
        // The most that can be live at once, in rounded sizes.
        std::size_t max_bytes = ~std::size_t{0};
        // How much freed memory is kept at most; 0 for none. What is freed under a seal, or what the system
        // would not take back, is kept beyond that until it is used again or trim gives it back.
        std::size_t cache_bytes = std::size_t{16} << 20;
    };

    // Fails as os::reserve does: the record of its pages needs addresses.
    [[nodiscard]] static Expected<SystemAllocator> create(const Options& options) noexcept;

    // Requires: nobody uses the other one meanwhile. It owns nothing then, and refuses with
    // capacity_exhausted.
    SystemAllocator(SystemAllocator&& other) noexcept;
    SystemAllocator& operator=(SystemAllocator&& other) = delete;
    // Gives the kept ranges back. Blocks that are still in use stay mapped, without an owner.
    ~SystemAllocator();

    // Fails with capacity_exhausted beyond max_bytes, and as os::reserve and os::commit do.
    [[nodiscard]] Expected<MemoryBlock> allocate(std::size_t size,
                                                 std::size_t alignment = kDefaultAlignment) noexcept override;

    // Requires: a block of this allocator (assert), or null.
    void deallocate(MemoryBlock block, std::size_t alignment = kDefaultAlignment) noexcept override;

    // In place where the addresses behind are free and the platform can do it.
    [[nodiscard]] Expected<MemoryBlock> reallocate(
        MemoryBlock block, std::size_t new_size, std::size_t alignment = kDefaultAlignment) noexcept override;

    // As far as reallocate would do without moving.
    [[nodiscard]] Expected<MemoryBlock> try_resize(
        MemoryBlock block, std::size_t new_size, std::size_t alignment = kDefaultAlignment) noexcept override;

    // Gives the kept ranges back now; returns how many bytes the system took. None under a seal.
    std::size_t trim() noexcept;

    // How large a block of so many bytes is: the same for every size from what was asked to what was given.
    // Fails with zero_size or size_overflow.
    [[nodiscard]] static Expected<std::size_t> rounded_size(std::size_t size) noexcept;

    // Takes no lock.
    [[nodiscard]] bool owns(const void* address) const noexcept override { return pages_.contains(address); }
    [[nodiscard]] ResourceInfo info() const noexcept override;
    [[nodiscard]] ResourceStats stats() const noexcept override;
    // Requires: no other thread is allocating or freeing here.
    [[nodiscard]] Status check() const noexcept override;

private:
    static constexpr std::size_t kMaxCached = 16;

    // What is freed under a seal stays, however much that is, and so does what the system would not take
    // back: noted in the freed pages themselves.
    struct HeldRange {
        HeldRange* next;
        std::size_t bytes;
    };

    // Guarded by the lock.
    struct Books {
        std::size_t live_bytes = 0;
        std::size_t peak_bytes = 0;
        std::size_t live_blocks = 0;
        std::size_t cached_bytes = 0;
        std::size_t held_back_bytes = 0;
        // Addresses that the system gave no memory for, and would not take back either: lost.
        std::size_t lost_bytes = 0;
        std::uint64_t allocations = 0;
        std::uint64_t failures = 0;
        std::size_t cached = 0;
        // In no order.
        HeldRange* held_back = nullptr;
        // The oldest first.
        std::array<MemoryBlock, kMaxCached> cache{};

        [[nodiscard]] std::size_t held_bytes() const noexcept {
            return live_bytes + cached_bytes + held_back_bytes;
        }
    };

    SystemAllocator(detail::PageMap pages, const Options& options) noexcept;

    [[nodiscard]] bool book(std::size_t bytes) noexcept;
    void unbook(std::size_t bytes) noexcept;
    [[nodiscard]] MemoryBlock take_cached(std::size_t bytes, std::size_t alignment) noexcept;
    [[nodiscard]] MemoryBlock remove_cached(std::size_t index) noexcept;
    [[nodiscard]] bool is_cached(MemoryBlock range) const noexcept;
    [[nodiscard]] bool keep(MemoryBlock range) noexcept;
    void hold_back(MemoryBlock range) noexcept;
    [[nodiscard]] MemoryBlock take_held_back(std::size_t bytes, std::size_t alignment) noexcept;
    [[nodiscard]] Expected<MemoryBlock> map_range(std::size_t bytes, std::size_t alignment) noexcept;
    std::size_t release_range(MemoryBlock range) noexcept;
    void release_unused(MemoryBlock range) noexcept;
    [[nodiscard]] Expected<MemoryBlock> finish(Expected<MemoryBlock> range, std::size_t bytes) noexcept;
    [[nodiscard]] Expected<MemoryBlock> fail(Status status) noexcept;
    [[nodiscard]] Status change_in_place(MemoryBlock range, std::size_t new_bytes) noexcept;
    [[nodiscard]] Status shrink_in_place(MemoryBlock range, std::size_t new_bytes) noexcept;
    [[nodiscard]] Status grow_in_place(MemoryBlock range, std::size_t new_bytes) noexcept;
    std::size_t release_kept() noexcept;
    void publish() noexcept;

    mutable detail::ForkSafeLock lock_;
    Books books_;
    detail::PageMap pages_;
    BlockRegistration listing_;
    const char* name_;
    std::size_t max_bytes_;
    std::size_t cache_bytes_;
};

}  // namespace ouro
