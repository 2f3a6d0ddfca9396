#pragma once

#include <ouro/memory/allocator.hpp>
#include <ouro/memory/detail/standard_failure.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory_resource>

// Adapters to and from the polymorphic resources of the standard library. Their code is compiled where this
// header is included, with the exceptions of that program or without.
namespace ouro {
inline namespace OURO_EXCEPTIONS_NAMESPACE {

// A std::pmr resource on an Allocator, for everything that takes one.
//
//     PmrResource frame_memory(frame);
//     std::pmr::vector<int> numbers(&frame_memory);
//
// A failure is std::bad_alloc; in a program without exceptions it asserts. Equal to itself only: let the
// containers that should exchange their memory share one.
class PmrResource final : public std::pmr::memory_resource {
public:
    explicit PmrResource(Allocator allocator) noexcept : allocator_(allocator) {}

    [[nodiscard]] Allocator allocator() const noexcept { return allocator_; }

private:
    // The standard allows an allocation of nothing, which has an address too; the contract does not.
    [[nodiscard]] static std::size_t real_size(std::size_t bytes) noexcept {
        return std::max<std::size_t>(bytes, 1);
    }

    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        return detail::address_or_failure(allocator_.allocate(real_size(bytes), alignment));
    }
    void do_deallocate(void* address, std::size_t bytes, std::size_t alignment) override {
        allocator_.deallocate({static_cast<std::byte*>(address), real_size(bytes)}, alignment);
    }
    bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
        return this == &other;
    }

    Allocator allocator_;
};

// A MemoryResource on a std::pmr resource, which must live longer. What that one throws is out_of_memory; in
// a program without exceptions it ends the program, as anything thrown there does.
//
// A std::pmr resource cannot be asked which addresses are its own, so owns() is always false, and a chain
// that looks for the owner of a block cannot have this as a link.
//
// Sizes are rounded up to the alignment, because the pools of some standard libraries align a block only when
// its size is a multiple of it. The size asked and the size given then lead to the same one at the other end.
class FromPmr final : public MemoryResource {
public:
    struct Options {
        const char* name = "pmr";
        // What is known of the resource beneath; the standard has no way to ask.
        ThreadSafety thread_safety = ThreadSafety::single_thread;
        bool frees_blocks = true;
    };

    explicit FromPmr(std::pmr::memory_resource& upstream) noexcept : FromPmr(upstream, Options()) {}
    FromPmr(std::pmr::memory_resource& upstream, const Options& options) noexcept
        : upstream_(&upstream), options_(options) {}

    [[nodiscard]] Expected<MemoryBlock> allocate(
        std::size_t size, std::size_t alignment = kDefaultAlignment) noexcept override {
        note_allocation();
        if (const Status asked = check_allocation(size, alignment); asked != Status::ok) return failed(asked);
        const auto whole = checked_align_up(size, alignment);
        if (!whole) return failed(whole.status());
        void* address = detail::null_when_thrown([&] { return upstream_->allocate(*whole, alignment); });
        if (address == nullptr) return failed(Status::out_of_memory);
        note_taken(*whole);
        return MemoryBlock{static_cast<std::byte*>(address), *whole};
    }

    void deallocate(MemoryBlock block, std::size_t alignment = kDefaultAlignment) noexcept override {
        if (block.is_null()) return;
        const std::size_t whole = align_up(block.size, alignment);
        live_bytes_.fetch_sub(whole, std::memory_order_relaxed);
        live_blocks_.fetch_sub(1, std::memory_order_relaxed);
        upstream_->deallocate(block.data, whole, alignment);
    }

    [[nodiscard]] Expected<MemoryBlock> reallocate(
        MemoryBlock block, std::size_t new_size,
        std::size_t alignment = kDefaultAlignment) noexcept override {
        return move_to_new_block(*this, block, new_size, alignment);
    }

    // Two on the same upstream are not equal: each counts its own blocks.
    [[nodiscard]] bool owns([[maybe_unused]] const void* address) const noexcept override { return false; }
    [[nodiscard]] ResourceInfo info() const noexcept override {
        return {.name = options_.name,
                .thread_safety = options_.thread_safety,
                .frees_blocks = options_.frees_blocks};
    }
    // What was asked of the upstream; what it holds itself it does not tell.
    [[nodiscard]] ResourceStats stats() const noexcept override {
        const std::size_t live = live_bytes_.load(std::memory_order_relaxed);
        return {.live_bytes = live,
                .peak_bytes = peak_bytes_.load(std::memory_order_relaxed),
                .live_blocks = live_blocks_.load(std::memory_order_relaxed),
                .reserved_bytes = live,
                .committed_bytes = live,
                .allocations = allocations_.load(std::memory_order_relaxed),
                .failures = failures_.load(std::memory_order_relaxed)};
    }
    [[nodiscard]] Status check() const noexcept override {
        const bool none_live = live_blocks_.load(std::memory_order_relaxed) == 0;
        const bool no_bytes = live_bytes_.load(std::memory_order_relaxed) == 0;
        return none_live == no_bytes ? Status::ok : Status::corrupt_data;
    }

private:
    [[nodiscard]] Expected<MemoryBlock> failed(Status status) noexcept {
        failures_.fetch_add(1, std::memory_order_relaxed);
        return status;
    }
    void note_taken(std::size_t size) noexcept {
        const std::size_t live = live_bytes_.fetch_add(size, std::memory_order_relaxed) + size;
        live_blocks_.fetch_add(1, std::memory_order_relaxed);
        allocations_.fetch_add(1, std::memory_order_relaxed);
        std::size_t peak = peak_bytes_.load(std::memory_order_relaxed);
        while (live > peak && !peak_bytes_.compare_exchange_weak(peak, live, std::memory_order_relaxed)) {
        }
    }

    std::pmr::memory_resource* upstream_;
    Options options_;
    std::atomic<std::size_t> live_bytes_{0};
    std::atomic<std::size_t> live_blocks_{0};
    std::atomic<std::size_t> peak_bytes_{0};
    std::atomic<std::uint64_t> allocations_{0};
    std::atomic<std::uint64_t> failures_{0};
};

}  // namespace OURO_EXCEPTIONS_NAMESPACE
}  // namespace ouro
