#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/base/memory_block.hpp>
#include <ouro/memory/block_registry.hpp>
#include <ouro/memory/memory_resource.hpp>
#include <ouro/os/reservation.hpp>

#include <cstddef>
#include <cstdint>

namespace ouro {

// The memory under an allocator that hands out one range from front to back: either addresses of its own,
// committed as they are needed and guarded behind the end, or one block of another resource.
class GrowingRange {
public:
    struct Options {
        // Addresses to reserve: the most there can ever be. Rounded up to pages.
        std::size_t max_bytes = 0;
        // How much to commit at least when more is needed. Rounded up to pages.
        std::size_t step_bytes = std::size_t{256} << 10;
        // What the range is called in the registry of blocks.
        const char* name = "range";
        Tag tag = {};
    };

    // Fails as os::reserve does.
    [[nodiscard]] static Expected<GrowingRange> reserve(const Options& options) noexcept;

    // One block of the resource, given back at the end. The resource must live longer.
    [[nodiscard]] static Expected<GrowingRange> borrow(MemoryResource& upstream, std::size_t bytes,
                                                       const char* name = "range", Tag tag = {}) noexcept;

    constexpr GrowingRange() noexcept = default;
    GrowingRange(GrowingRange&& other) noexcept;
    GrowingRange& operator=(GrowingRange&& other) noexcept;
    ~GrowingRange();

    [[nodiscard]] MemoryBlock whole() const noexcept { return whole_; }
    // The part that can be used, from the front.
    [[nodiscard]] std::size_t usable_bytes() const noexcept { return usable_bytes_; }

    // From now on sanitizers know the range as a pool of which nothing is allocated: for owners that tell
    // them what they hand out.
    void tell_sanitizers() noexcept;
    // What they know it by.
    [[nodiscard]] const std::byte* pool() const noexcept { return whole_.data + pool_offset_; }

    // Makes at least the first `bytes` usable. capacity_exhausted beyond the whole; sealed; out_of_memory.
    Expected<void> grow(std::size_t bytes) noexcept;

    // Makes so many bytes behind an offset usable and brings them into memory now, so that their first use
    // causes no fault. Fails as grow and os::prefault do. On addresses of its own only, and before sanitizers
    // are told.
    Expected<void> prewarm(std::size_t offset, std::size_t bytes) noexcept;

    // Gives back what lies behind the first `bytes`, as far as whole pages go. A borrowed block stays as it
    // is, and so does everything under a seal.
    void shrink(std::size_t bytes) noexcept;

    // Tells the registry of blocks how much of the range is in use, and how much was at most.
    void publish(std::size_t used_bytes, std::size_t peak_bytes) noexcept {
        listing_.update(usable_bytes_, used_bytes, peak_bytes);
    }

private:
    os::Reservation own_;
    MemoryResource* upstream_ = nullptr;
    MemoryBlock whole_;
    std::size_t usable_bytes_ = 0;
    std::size_t step_bytes_ = 0;
    bool is_told_ = false;
    std::uint8_t pool_offset_ = 0;
    BlockRegistration listing_;
};

}  // namespace ouro
