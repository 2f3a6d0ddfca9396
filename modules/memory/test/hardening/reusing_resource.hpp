#pragma once

#include <ouro/base/bits.hpp>
#include <ouro/memory/frame_allocator.hpp>

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace ouro::testing_support {

// An upstream that gives the block freed last to the next who asks for its size, from any thread: what makes
// a use after free hurt most. Checks nothing.
class ReusingResource final : public MemoryResource {
public:
    explicit ReusingResource(std::size_t bytes) {
        frame_.emplace(*FrameAllocator::create({.max_bytes = bytes}));
    }

    Expected<MemoryBlock> allocate(std::size_t size, std::size_t alignment) noexcept override {
        const Status asked = check_allocation(size, alignment);
        if (asked != Status::ok) return asked;
        if (size > SIZE_MAX / 4 || alignment > kMaxAlignment) return Status::capacity_exhausted;
        const Lock lock(busy_);
        const std::size_t bin = bin_of(size);
        if (void* const first = bins_[bin]; first != nullptr) {
            bins_[bin] = *static_cast<void**>(first);
            ++live_;
            return MemoryBlock{static_cast<std::byte*>(first), std::size_t{1} << bin};
        }
        const auto block = frame_->allocate(std::size_t{1} << bin, kMaxAlignment);
        live_ += block ? 1U : 0U;
        return block;
    }

    void deallocate(MemoryBlock block, std::size_t) noexcept override {
        if (block.is_null()) return;
        const Lock lock(busy_);
        void*& first = bins_[bin_of(block.size)];
        *reinterpret_cast<void**>(block.data) = first;
        first = block.data;
        --live_;
    }

    Expected<MemoryBlock> reallocate(MemoryBlock block, std::size_t new_size,
                                     std::size_t alignment) noexcept override {
        return move_to_new_block(*this, block, new_size, alignment);
    }

    bool owns(const void* address) const noexcept override { return frame_->owns(address); }
    ResourceInfo info() const noexcept override {
        return {.name = "reusing", .thread_safety = ThreadSafety::any_thread, .frees_blocks = true};
    }
    ResourceStats stats() const noexcept override {
        ResourceStats stats = frame_->stats();
        stats.live_blocks = live_;
        return stats;
    }
    Status check() const noexcept override { return frame_->check(); }

private:
    static constexpr std::size_t kMaxAlignment = 256;

    class Lock {
    public:
        explicit Lock(std::atomic<bool>& busy) : busy_(busy) {
            while (busy_.exchange(true, std::memory_order_acquire)) {
            }
        }
        ~Lock() { busy_.store(false, std::memory_order_release); }
        Lock(const Lock&) = delete;
        Lock& operator=(const Lock&) = delete;

    private:
        std::atomic<bool>& busy_;
    };

    static std::size_t bin_of(std::size_t size) noexcept {
        return static_cast<std::size_t>(std::bit_width((size < sizeof(void*) ? sizeof(void*) : size) - 1));
    }

    std::optional<FrameAllocator> frame_;
    std::array<void*, 64> bins_{};
    std::size_t live_ = 0;
    std::atomic<bool> busy_{false};
};

}  // namespace ouro::testing_support
