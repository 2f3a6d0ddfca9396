#pragma once

#include <ouro/memory/allocator.hpp>

#include <cstddef>
#include <span>
#include <utility>

namespace ouro {

// A block that goes back to its resource by itself. Movable, not copyable; empty after it was moved from.
class OwnedMemoryBlock {
public:
    // As Allocator::allocate.
    [[nodiscard]] static Expected<OwnedMemoryBlock> allocate(
        Allocator allocator, std::size_t size, std::size_t alignment = kDefaultAlignment) noexcept {
        const auto block = allocator.allocate(size, alignment);
        if (!block) return block.status();
        return OwnedMemoryBlock(allocator, *block, alignment);
    }

    constexpr OwnedMemoryBlock() noexcept = default;
    // Takes over a block that was allocated there with that alignment.
    OwnedMemoryBlock(Allocator allocator, MemoryBlock block, std::size_t alignment) noexcept
        : resource_(&allocator.resource()), block_(block), alignment_(alignment) {}

    OwnedMemoryBlock(OwnedMemoryBlock&& other) noexcept
        : resource_(other.resource_), block_(other.release()), alignment_(other.alignment_) {}
    OwnedMemoryBlock& operator=(OwnedMemoryBlock&& other) noexcept {
        if (this != &other) {
            reset();
            resource_ = other.resource_;
            alignment_ = other.alignment_;
            block_ = other.release();
        }
        return *this;
    }
    ~OwnedMemoryBlock() { reset(); }

    // Gives the block back now.
    void reset() noexcept {
        if (!block_.is_null()) resource_->deallocate(release(), alignment_);
    }
    // Leaves the block to the caller, who returns it with alignment().
    [[nodiscard]] MemoryBlock release() noexcept { return std::exchange(block_, {}); }

    // The block with a new size, in place where possible, with its bytes. When it fails, the block is as it
    // was. Requires: not empty (assert).
    Expected<void> resize(std::size_t new_size) noexcept {
        OURO_ASSERT(!block_.is_null(), "an empty owner has nothing to resize");
        const auto resized = Allocator(*resource_).reallocate(block_, new_size, alignment_);
        if (resized) block_ = *resized;
        return resized.status();
    }

    explicit operator bool() const noexcept { return !block_.is_null(); }
    [[nodiscard]] MemoryBlock block() const noexcept { return block_; }
    [[nodiscard]] std::byte* data() const noexcept { return block_.data; }
    [[nodiscard]] std::size_t size() const noexcept { return block_.size; }
    [[nodiscard]] std::span<std::byte> bytes() const noexcept { return block_.bytes(); }
    [[nodiscard]] std::size_t alignment() const noexcept { return alignment_; }

private:
    MemoryResource* resource_ = nullptr;
    MemoryBlock block_;
    std::size_t alignment_ = kDefaultAlignment;
};

}  // namespace ouro
