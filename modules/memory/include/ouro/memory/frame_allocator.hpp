#pragma once

#include <ouro/memory/bump_range.hpp>
#include <ouro/memory/detail/block_assert.hpp>
#include <ouro/memory/memory_resource.hpp>
#include <ouro/memory/no_allocation_scope.hpp>

#include <cstddef>
#include <cstdint>

namespace ouro {

// Bump allocation for things that die together: an allocation moves a cursor, a reset moves it back, and
// neither depends on how much was allocated. Deallocating gives nothing back, except that the newest block
// can grow, shrink and go.
//
//     auto frame = FrameAllocator::create({.max_bytes = std::size_t{1} << 30});
//     auto block = frame->allocate(1000, 16);
//     frame->reset();
//
// On memory of its own it commits what it needs, and gives back at reset what recent frames did not need.
class FrameAllocator final : public MemoryResource {
public:
    struct Options {
        const char* name = "frame";
        Tag tag = {};
        std::size_t max_bytes = std::size_t{1} << 30;
        std::size_t commit_step_bytes = std::size_t{256} << 10;
        // After this many resets, memory beyond the highest use within them goes back to the system; 0:
        // never.
        std::uint32_t decay_resets = 128;
        // So much is in memory from the beginning, ready to be written without a fault, and stays whatever
        // frames need.
        std::size_t prewarm_bytes = 0;
    };

    // Where the cursor was: rewinding to it frees all that was allocated since.
    struct Marker {
        std::size_t used_bytes = 0;
    };

    // On reserved addresses of its own, with a guard page at the end. Fails as os::reserve does; with memory
    // to prewarm also as os::commit and os::prefault do, with sealed, or with capacity_exhausted beyond
    // max_bytes.
    [[nodiscard]] static Expected<FrameAllocator> create(const Options& options) noexcept;
    // On one block of another resource, which must live longer.
    [[nodiscard]] static Expected<FrameAllocator> create_on(MemoryResource& upstream, std::size_t bytes,
                                                            const char* name = "frame",
                                                            Tag tag = {}) noexcept;

    [[nodiscard]] Expected<MemoryBlock> allocate(
        std::size_t size, std::size_t alignment = kDefaultAlignment) noexcept override {
        note_allocation();
        range_.fetch_ahead();
        return range_.take(size, alignment);
    }

    // The newest block goes back; of any other, nothing happens until the reset.
    void deallocate(MemoryBlock block,
                    [[maybe_unused]] std::size_t alignment = kDefaultAlignment) noexcept override {
        if (range_.is_newest(block)) range_.give_back(block);
    }

    [[nodiscard]] Expected<MemoryBlock> reallocate(
        MemoryBlock block, std::size_t new_size, std::size_t alignment = kDefaultAlignment) noexcept override;

    // Any block can become smaller; only the newest can grow.
    [[nodiscard]] Expected<MemoryBlock> try_resize(
        MemoryBlock block, std::size_t new_size, std::size_t alignment = kDefaultAlignment) noexcept override;

    // Frees everything in one step. What was allocated before must not be used any more.
    void reset() noexcept {
        range_.cut_to(0);
        if (++resets_since_decay_ == decay_resets_) decay();
    }

    [[nodiscard]] Marker mark() const noexcept { return {range_.used_bytes()}; }
    // Requires: the frame has not been reset or rewound below the marker since (assert).
    void rewind(Marker marker) noexcept {
        OURO_BLOCK_ASSERT(marker.used_bytes <= range_.used_bytes(),
                          "the marker is of memory that was freed already", *this, nullptr);
        range_.cut_to(marker.used_bytes);
    }
    // The same for those who see the contract only.
    [[nodiscard]] Expected<ResourceMark> place_mark() noexcept override;
    void free_since(ResourceMark mark) noexcept override;

    // Brings the registry of blocks up to date. Otherwise its entry is as it was when memory was last
    // committed or given back.
    void publish() noexcept { range_.publish(); }

    [[nodiscard]] std::size_t used_bytes() const noexcept { return range_.used_bytes(); }
    [[nodiscard]] std::size_t committed_bytes() const noexcept { return range_.committed_bytes(); }

    [[nodiscard]] bool owns(const void* address) const noexcept override { return range_.owns(address); }
    [[nodiscard]] ResourceInfo info() const noexcept override;
    [[nodiscard]] ResourceStats stats() const noexcept override { return range_.stats(); }
    [[nodiscard]] Status check() const noexcept override { return range_.check(); }

private:
    FrameAllocator(BumpRange range, const char* name, std::uint32_t decay_resets,
                   std::size_t kept_bytes) noexcept;
    void decay() noexcept;

    BumpRange range_;
    const char* name_;
    std::uint32_t decay_resets_;
    std::uint32_t resets_since_decay_ = 0;
    // What no decay gives back.
    std::size_t kept_bytes_;
};

// Frees at the end of a scope what was allocated in it.
class FrameScope {
public:
    explicit FrameScope(FrameAllocator& frame) noexcept : frame_(frame), start_(frame.mark()) {}
    ~FrameScope() { frame_.rewind(start_); }
    FrameScope(const FrameScope&) = delete;
    FrameScope& operator=(const FrameScope&) = delete;

private:
    FrameAllocator& frame_;
    FrameAllocator::Marker start_;
};

}  // namespace ouro
