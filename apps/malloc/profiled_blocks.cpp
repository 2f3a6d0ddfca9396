#include "profiled_blocks.hpp"

#include "call_stack.hpp"
#include "lasting.hpp"
#include "settings.hpp"
#include "text_output.hpp"

#include <ouro/memory/block_registry.hpp>
#include <ouro/memory/detail/block_assert.hpp>
#include <ouro/memory/detail/word_lock.hpp>
#include <ouro/memory/tlsf_allocator.hpp>
#include <ouro/observe/detail/sampling.hpp>
#include <ouro/observe/profiler.hpp>
#include <ouro/observe/recording.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <utility>

#include <signal.h>

namespace ouro::process_heap {
namespace {

constexpr std::size_t kLeastAlignment = 16;
// Addresses for sampled blocks, handed to the heap of them in pieces: it touches a little of each at once.
constexpr std::size_t kPieceBytes = std::size_t{16} << 20;
constexpr std::size_t kMostRegionBytes = kPieceBytes * TlsfAllocator::kMaxRegions;

// Never destroyed, as what lasts.
alignas(TlsfAllocator) constinit std::byte g_memory[sizeof(TlsfAllocator)] = {};
constinit TlsfAllocator* g_region = nullptr;
// What the heap was not given yet. Under the lock.
constinit MemoryBlock g_rest;
// The addresses as a whole, of which the heap of sampled blocks lists its pieces as parts.
constinit Lasting<BlockRegistration> g_listing;
constinit detail::WordLock g_region_lock;
// What is in use of each piece and of all. Under the lock.
struct Use {
    std::array<std::size_t, TlsfAllocator::kMaxRegions> of_piece = {};
    std::size_t bytes = 0;
    std::size_t peak_bytes = 0;
};
constinit Use g_use;
constinit std::atomic<std::size_t> g_blocks = 0;
constinit std::atomic<std::size_t> g_bytes = 0;
constinit std::atomic<std::uint64_t> g_allocations = 0;

// What a sample does is not sampled.
[[gnu::tls_model("initial-exec")]] constinit thread_local bool t_is_sampling = false;
[[gnu::tls_model("initial-exec")]] constinit thread_local bool t_is_forking = false;

// The thread that forks holds the lock already; what other hooks allocate must not wait for it.
class RegionScope {
public:
    RegionScope() noexcept {
        if (!t_is_forking) g_region_lock.lock();
    }
    ~RegionScope() {
        if (!t_is_forking) g_region_lock.unlock();
    }
    RegionScope(const RegionScope&) = delete;
    RegionScope& operator=(const RegionScope&) = delete;
};

MemoryBlock reserve_region() noexcept {
    for (std::size_t bytes = kMostRegionBytes; bytes >= kPieceBytes; bytes /= 4) {
        const auto region = os::reserve({.bytes = bytes});
        if (!region) continue;
        if (os::commit(*region)) return *region;
        static_cast<void>(os::release(*region));
    }
    return {};
}

void complain(Status status) noexcept {
    TextBuffer text;
    text.add("OUROBOROS_MALLOC: nothing is profiled: ").add(status_name(status).data()).add("\n");
    text.write();
}

MemoryBlock take_piece() noexcept {
    const MemoryBlock piece{g_rest.data, std::min(g_rest.size, kPieceBytes)};
    g_rest = {g_rest.data + piece.size, g_rest.size - piece.size};
    return piece;
}

// Requires: the lock. Samples are rare enough for the table of blocks to know each: of the piece that the
// block lies in, and of the sum, which is kept.
void tell_use(const void* block) noexcept {
    const std::size_t offset = reinterpret_cast<std::uintptr_t>(block) - g_profiled_region.begin;
    std::size_t& in_piece = g_use.of_piece[offset / kPieceBytes];
    const std::size_t before = std::exchange(in_piece, g_region->publish_region_of(block));
    g_use.bytes += in_piece - before;
    g_use.peak_bytes = std::max(g_use.peak_bytes, g_use.bytes);
    const std::size_t given = g_profiled_region.bytes - g_rest.size;
    g_listing.value.update_silently(given, g_use.bytes, g_use.peak_bytes);
}

void* take_block(std::size_t size, std::size_t alignment) noexcept {
    const RegionScope scope;
    for (;;) {
        if (const auto block = g_region->allocate(size, alignment)) {
            tell_use(block->data);
            return block->data;
        }
        if (g_rest.size == 0 || !g_region->add_region(take_piece())) return nullptr;
    }
}

void give_back(void* block, std::size_t size) noexcept {
    const RegionScope scope;
    g_region->deallocate({static_cast<std::byte*>(block), size});
    tell_use(block);
}

// How often the profile was asked for by a signal, and how much of that was done.
constinit std::atomic<std::uint32_t> g_asked = 0;
constinit std::atomic<std::uint32_t> g_done = 0;

bool is_asked() noexcept {
    return g_done.load(std::memory_order_relaxed) != g_asked.load(std::memory_order_relaxed);
}

void begin_profile() noexcept {
    const auto started = start_profiler({.mean_bytes = settings().profile_bytes});
    if (!started) complain(started.status());
}

// What the handler of a signal could not do, for it came in the middle of such work, is left to whoever comes
// to the end of a countdown.
void do_as_asked() noexcept {
    if (detail::is_inside_profile()) return;
    std::uint32_t asked = 0;
    std::uint32_t done = g_done.load(std::memory_order_relaxed);
    do {
        asked = g_asked.load(std::memory_order_acquire);
        if (done == asked) return;
    } while (!g_done.compare_exchange_weak(done, asked, std::memory_order_acq_rel));
    if (done == 0) {
        begin_profile();
    } else {
        mark_growth();
    }
}

// The mean that the bytes are a sample for, or zero.
std::uint64_t begin_countdown(std::size_t bytes) noexcept {
    if (is_asked()) do_as_asked();
    if (t_state.clock.id.load(std::memory_order_relaxed) == 0)
        t_state.clock.id.store(detail::new_clock_id(), std::memory_order_relaxed);
    // A thread that waits for its beginning looks often: it costs little beside so many bytes.
    constexpr std::int64_t kLookBytes = std::int64_t{16} << 10;
    return detail::begin_countdown(t_state.clock, bytes, kLookBytes);
}

bool record(const void* block, std::size_t size, std::uint64_t mean) noexcept {
    std::array<void*, detail::kMaxSiteFrames> frames;
    static_assert(detail::kMaxSiteFrames <= kMostCallers);
    const std::size_t count = capture_callers(frames);
    return detail::record_sample(
        {.address = block, .bytes = size, .stack = std::span(frames).first(count), .mean_bytes = mean},
        t_state.clock);
}

void* sample_small(std::size_t size, std::size_t alignment) noexcept {
    const std::uint64_t mean = begin_countdown(size);
    if (mean == 0) return nullptr;
    // Where there is no room for it, its site hears of it all the same.
    void* const block = take_block(size, alignment);
    if (!record(block, size, mean)) {
        if (block != nullptr) give_back(block, size);
        return nullptr;
    }
    g_blocks.fetch_add(1, std::memory_order_relaxed);
    g_bytes.fetch_add(size, std::memory_order_relaxed);
    g_allocations.fetch_add(1, std::memory_order_relaxed);
    return block;
}

}  // namespace

void prepare_profiling() noexcept {
    const MemoryBlock memory = reserve_region();
    if (memory.is_null()) return complain(Status::out_of_address_space);
    g_rest = memory;
    // Before its parts, so that it is the whole of the first of them.
    g_listing.value = BlockRegistration(
        {.name = "malloc, sampled blocks", .base = memory.data, .reserved_bytes = memory.size});
    auto region = TlsfAllocator::create_in(take_piece(), "a piece for sampled blocks");
    if (!region) {
        // Nothing stays behind of what will not be used.
        g_rest = {};
        g_listing.value = {};
        static_cast<void>(os::release(memory));
        return complain(region.status());
    }
    g_region = std::construct_at(reinterpret_cast<TlsfAllocator*>(g_memory), *std::move(region));
    g_profiled_region = {reinterpret_cast<std::uintptr_t>(memory.data), memory.size};
    g_listing.value.update_silently(memory.size - g_rest.size, 0, 0);
    g_is_profiling = true;
}

void start_profiling() noexcept {
    if (!g_is_profiling) return;
    t_is_sampling = true;
    if (settings().profile_signal == 0) {
        begin_profile();
    } else if (!detail::prepare_profiler(settings().profile_signal == SIGUSR1 ? 1 : 2)) {
        complain(Status::out_of_memory);
    }
    // Whoever wants a profile may look at it while the program runs.
    static_cast<void>(allow_reports());
    t_is_sampling = false;
    // Whatever was allocated on the way has not ended the first countdown.
    t_state.clock.left.store(0, std::memory_order_relaxed);
}

void ask_for_profile() noexcept {
    if (!g_is_profiling) return;
    g_asked.fetch_add(1, std::memory_order_release);
    do_as_asked();
}

bool has_profile() noexcept {
    return g_is_profiling && (settings().profile_signal == 0 || g_done.load(std::memory_order_relaxed) != 0);
}

void* allocate_profiled(std::size_t size, std::size_t alignment) noexcept {
    if (t_is_sampling) return nullptr;
    const int saved_errno = errno;
    t_is_sampling = true;
    void* const block = sample_small(std::max<std::size_t>(size, 1), std::max(alignment, kLeastAlignment));
    t_is_sampling = false;
    errno = saved_errno;
    return block;
}

void note_large_block(void* block, std::size_t size) noexcept {
    if (t_is_sampling) return;
    const int saved_errno = errno;
    t_is_sampling = true;
    // When there is no room, it is one that nobody knows of.
    if (const std::uint64_t mean = begin_countdown(size); mean != 0)
        static_cast<void>(record(block, size, mean));
    t_is_sampling = false;
    errno = saved_errno;
}

void free_profiled(void* block) noexcept {
    const std::size_t size = detail::forget_sampled_block(block, t_state.clock);
    OURO_BLOCK_ASSERT(size != 0, "free of what malloc did not return, or a second time", "malloc", block);
    g_blocks.fetch_sub(1, std::memory_order_relaxed);
    g_bytes.fetch_sub(size, std::memory_order_relaxed);
    give_back(block, size);
}

std::size_t profiled_size(const void* block) noexcept {
    return detail::sampled_size(block);
}

void forget_large_block(const void* block) noexcept {
    if (detail::may_be_sampled(block)) static_cast<void>(detail::forget_sampled_block(block, t_state.clock));
}

ResizedBlock::ResizedBlock(const void* block) noexcept {
    if (detail::may_be_sampled(block)) sample_ = detail::take_sample(block);
}

void ResizedBlock::stays(const void* block) noexcept {
    if (sample_.weight != 0) detail::put_back_sample(block, sample_);
}

void ResizedBlock::becomes(void* block, std::size_t new_size) noexcept {
    if (sample_.weight != 0) detail::end_taken_sample(sample_);
    if (is_sample_due(new_size)) note_large_block(block, new_size);
}

void prepare_profile_for_fork() noexcept {
    g_region_lock.lock();
    t_is_forking = true;
}

void resume_profile_after_fork() noexcept {
    t_is_forking = false;
    g_region_lock.unlock();
}

ProfiledTotals profiled_totals() noexcept {
    return {g_blocks.load(std::memory_order_relaxed), g_bytes.load(std::memory_order_relaxed),
            g_allocations.load(std::memory_order_relaxed)};
}

}  // namespace ouro::process_heap
