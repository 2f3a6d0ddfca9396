#pragma once

#include <ouro/memory/bump_range.hpp>
#include <ouro/memory/detail/block_assert.hpp>
#include <ouro/memory/memory_resource.hpp>
#include <ouro/memory/no_allocation_scope.hpp>

#include <cstddef>
#include <cstdint>

namespace ouro {

// Memory taken and given back in opposite order, as nested work does. Unlike a frame it frees single blocks,
// and insists on the order: returning anything but the newest block is a bug and asserts in every build.
//
//     auto stack = StackAllocator::create({.max_bytes = std::size_t{64} << 20});
//     {
//         StackScope scope(*stack);
//         auto scratch = stack->allocate(4096);
//     }   // scratch is gone
class StackAllocator final : public MemoryResource {
public:
    struct Options {
        const char* name = "stack";
        Tag tag = {};
        std::size_t max_bytes = std::size_t{64} << 20;
        std::size_t commit_step_bytes = std::size_t{64} << 10;
        // So much is in memory from the beginning, ready to be written without a fault.
        std::size_t prewarm_bytes = 0;
    };

    // A height of the stack: popping to it frees all that was allocated above.
    struct Marker {
        std::size_t used_bytes = 0;
        std::size_t live_blocks = 0;
    };

    // On reserved addresses of its own, with a guard page at the end. Fails as os::reserve does; with memory
    // to prewarm also as os::commit and os::prefault do, with sealed, or with capacity_exhausted beyond
    // max_bytes.
    [[nodiscard]] static Expected<StackAllocator> create(const Options& options) noexcept;
    // On one block of another resource, which must live longer.
    [[nodiscard]] static Expected<StackAllocator> create_on(MemoryResource& upstream, std::size_t bytes,
                                                            const char* name = "stack",
                                                            Tag tag = {}) noexcept;

    [[nodiscard]] Expected<MemoryBlock> allocate(
        std::size_t size, std::size_t alignment = kDefaultAlignment) noexcept override {
        note_allocation();
        if (alignment > kUnit || !is_alignment(alignment) || size > kMaxSize)
            return allocate_unusual(size, alignment);
        const auto block = range_.take(whole_units(size), kUnit);
        live_blocks_ += block ? 1U : 0U;
        return block;
    }

    // Requires: the newest block (assert), or null.
    void deallocate(MemoryBlock block, std::size_t alignment = kDefaultAlignment) noexcept override {
        if (block.is_null()) return;
        block.size = whole_units(block.size);
        OURO_BLOCK_ASSERT(range_.is_newest(block) && live_blocks_ != 0,
                          "a stack takes back its newest block only", *this, block.data);
        range_.give_back(alignment > kUnit ? with_skipped_bytes(block) : block);
        --live_blocks_;
    }

    // Requires: the newest block (assert), or null.
    [[nodiscard]] Expected<MemoryBlock> reallocate(
        MemoryBlock block, std::size_t new_size, std::size_t alignment = kDefaultAlignment) noexcept override;

    // Only the newest block changes; another keeps its size, which serves for any smaller one.
    [[nodiscard]] Expected<MemoryBlock> try_resize(
        MemoryBlock block, std::size_t new_size, std::size_t alignment = kDefaultAlignment) noexcept override;

    [[nodiscard]] Marker mark() const noexcept { return {range_.used_bytes(), live_blocks_}; }
    // Requires: the stack has not been below the marker since (assert).
    void pop_to(Marker marker) noexcept;
    // The same for those who see the contract only.
    [[nodiscard]] Expected<ResourceMark> place_mark() noexcept override;
    void free_since(ResourceMark mark) noexcept override;

    // Brings the registry of blocks up to date. Otherwise its entry is as it was when memory was last
    // committed or given back.
    void publish() noexcept { range_.publish(); }

    [[nodiscard]] std::size_t used_bytes() const noexcept { return range_.used_bytes(); }

    [[nodiscard]] bool owns(const void* address) const noexcept override { return range_.owns(address); }
    [[nodiscard]] ResourceInfo info() const noexcept override;
    [[nodiscard]] ResourceStats stats() const noexcept override;
    [[nodiscard]] Status check() const noexcept override;

private:
    // Sizes are rounded up to the unit, so that blocks of ordinary alignment lie one right behind the other
    // and the newest is known by its end. Only a block of larger alignment skips bytes, and notes in them
    // where it began.
    static constexpr std::size_t kUnit = kDefaultAlignment;
    // What can be rounded up; the largest that makes sense is smaller, but costs an instruction to compare
    // to.
    static constexpr std::size_t kMaxSize = ~std::size_t{0} - kUnit;

    [[nodiscard]] static constexpr std::size_t whole_units(std::size_t size) noexcept {
        return (size + kUnit - 1) & ~(kUnit - 1);
    }

    StackAllocator(BumpRange range, const char* name) noexcept;
    [[gnu::noinline]] Expected<MemoryBlock> allocate_unusual(std::size_t size,
                                                             std::size_t alignment) noexcept;
    [[nodiscard]] static MemoryBlock with_skipped_bytes(MemoryBlock block) noexcept;

    BumpRange range_;
    std::size_t live_blocks_ = 0;
    const char* name_;
};

// Frees at the end of a scope what was allocated in it.
class StackScope {
public:
    explicit StackScope(StackAllocator& stack) noexcept : stack_(stack), start_(stack.mark()) {}
    ~StackScope() { stack_.pop_to(start_); }
    StackScope(const StackScope&) = delete;
    StackScope& operator=(const StackScope&) = delete;

private:
    StackAllocator& stack_;
    StackAllocator::Marker start_;
};

}  // namespace ouro
