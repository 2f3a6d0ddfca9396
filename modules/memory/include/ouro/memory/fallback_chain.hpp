#pragma once

#include <ouro/memory/memory_resource.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

namespace ouro {

// Several resources in a row: an allocation is served by the first that can, and goes back to the one that
// owns it. A pool before a heap, a fixed region before the system.
//
//     auto chain = FallbackChain::create({&region, &system});
//
// Thread-safe as far as all of its links are. A link that stands on the memory of another must come before
// it, because the first that owns an address is taken for its owner.
class FallbackChain final : public MemoryResource {
public:
    static constexpr std::size_t kMaxLinks = 8;

    // The links must live longer. Fails with bad_argument (none, a null one, or one twice) or
    // capacity_exhausted.
    [[nodiscard]] static Expected<FallbackChain> create(std::span<MemoryResource* const> links,
                                                        const char* name = "fallback") noexcept;
    [[nodiscard]] static Expected<FallbackChain> create(std::initializer_list<MemoryResource*> links,
                                                        const char* name = "fallback") noexcept;

    // When every link fails: the status of the last that ran out of something; where none did, that of the
    // last link.
    [[nodiscard]] Expected<MemoryBlock> allocate(std::size_t size,
                                                 std::size_t alignment = kDefaultAlignment) noexcept override;

    // Requires: a link owns the block (assert), or it is null.
    void deallocate(MemoryBlock block, std::size_t alignment = kDefaultAlignment) noexcept override;

    // By its owner where that can, else the block moves to the first link that has room.
    [[nodiscard]] Expected<MemoryBlock> reallocate(
        MemoryBlock block, std::size_t new_size, std::size_t alignment = kDefaultAlignment) noexcept override;

    // By its owner, or not at all.
    [[nodiscard]] Expected<MemoryBlock> try_resize(
        MemoryBlock block, std::size_t new_size, std::size_t alignment = kDefaultAlignment) noexcept override;

    // With one link only: several do not free in the order of the chain's ages.
    [[nodiscard]] Expected<ResourceMark> place_mark() noexcept override;
    void free_since(ResourceMark mark) noexcept override;

    [[nodiscard]] std::span<MemoryResource* const> links() const noexcept { return {links_.data(), count_}; }
    // The link whose block this is, or null.
    [[nodiscard]] MemoryResource* owner_of(const void* address) const noexcept;

    [[nodiscard]] bool owns(const void* address) const noexcept override {
        return owner_of(address) != nullptr;
    }
    // The least that all links promise; size classes of one link alone.
    [[nodiscard]] ResourceInfo info() const noexcept override;
    // The sums over the links, with what others do with them. The peak is therefore an upper bound: the links
    // need not have had theirs at the same time. Failures are those of the chain itself.
    [[nodiscard]] ResourceStats stats() const noexcept override;
    [[nodiscard]] Status check() const noexcept override;

private:
    FallbackChain(std::span<MemoryResource* const> links, const char* name) noexcept;

    [[gnu::cold]] Expected<MemoryBlock> fail(Status status) noexcept;

    std::array<MemoryResource*, kMaxLinks> links_{};
    std::size_t count_ = 0;
    const char* name_;
    // Counted atomically, and plain so that a chain can move.
    alignas(8) std::uint64_t failures_ = 0;
};

}  // namespace ouro
