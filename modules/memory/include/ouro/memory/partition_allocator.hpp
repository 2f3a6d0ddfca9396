#pragma once

#include <ouro/memory/partition.hpp>
#include <ouro/os/reservation.hpp>

#include <cstddef>
#include <span>
#include <string_view>

namespace ouro {

// Heaps side by side, one a subsystem or a type, whose addresses never mix: what one of them has freed is
// never handed out by another, so that a stale pointer of a script cannot come to point into a network
// packet. Each is a MemoryResource.
//
//     constexpr PartitionOptions kParts[] = {{.name = "scripts"}, {.name = "packets"}};
//     auto set = PartitionAllocator::create({.partitions = kParts});
//     Partition& scripts = (*set)[0];
//     auto block = scripts.allocate(100, 16);
//
// The partitions stay where they are when the set is moved.
class PartitionAllocator {
public:
    struct Options {
        std::span<const PartitionOptions> partitions;
    };

    // On reserved addresses of its own. Fails with bad_argument (no partitions), zero_size, size_overflow,
    // not_supported (guards where pages are too large for them), as os::reserve or SmallObjectAllocator do,
    // or with out_of_memory.
    [[nodiscard]] static Expected<PartitionAllocator> create(const Options& options) noexcept;
    // On two blocks of another resource, which must live longer: one for all partitions and one for their
    // bookkeeping; partitions for any thread have theirs in front of their addresses. Memory then never goes
    // back while the set lives, and guards are not_supported.
    [[nodiscard]] static Expected<PartitionAllocator> create_on(MemoryResource& upstream,
                                                                const Options& options) noexcept;

    PartitionAllocator(PartitionAllocator&& other) noexcept;
    PartitionAllocator& operator=(PartitionAllocator&& other) noexcept;
    ~PartitionAllocator();

    [[nodiscard]] std::size_t size() const noexcept { return count_; }
    // Requires: index < size() (assert).
    [[nodiscard]] Partition& operator[](std::size_t index) noexcept {
        OURO_ASSERT(index < count_, "there are fewer partitions");
        return *partitions_[index];
    }

    // The partition of that name, or null.
    [[nodiscard]] Partition* find(std::string_view name) noexcept;
    // The partition that the address belongs to, allocated or not; null for addresses of others.
    [[nodiscard]] Partition* owner_of(const void* address) noexcept;

    // The sums over all partitions; the peak is the sum of their peaks.
    [[nodiscard]] ResourceStats stats() const noexcept;
    // Checks every partition, and that their addresses lie apart.
    [[nodiscard]] Status check() const noexcept;

    // Of every partition; returns how many bytes that were.
    std::size_t trim() noexcept;

private:
    struct Layout;

    PartitionAllocator() noexcept = default;
    [[nodiscard]] static Expected<Layout> plan(const Options& options, bool commits) noexcept;
    // Builds the partitions into the set's memory, whose bookkeeping reads zero. What was built is there even
    // when it fails.
    [[nodiscard]] Status build(const Options& options, bool commits) noexcept;
    void take_from(PartitionAllocator& other) noexcept;
    void release() noexcept;

    os::Reservation own_metadata_;
    os::Reservation own_addresses_;
    MemoryResource* upstream_ = nullptr;
    MemoryBlock metadata_;
    MemoryBlock addresses_;
    Partition** partitions_ = nullptr;
    Partition** by_address_ = nullptr;
    std::size_t count_ = 0;
};

}  // namespace ouro
