#pragma once

#include "future_store.hpp"
#include "hash_masks.hpp"
#include "lease_table.hpp"
#include "outside_ranges.hpp"
#include "slot_store.hpp"
#include "tick_log.hpp"
#include "version_index.hpp"
#include "write_finder.hpp"

#include <ouro/base/expected.hpp>
#include <ouro/jobs/parallel_for.hpp>
#include <ouro/memory/block_registry.hpp>
#include <ouro/streams/live_image.hpp>
#include <ouro/streams/state_ring.hpp>

#include <atomic>
#include <cstdint>
#include <span>

namespace ouro::detail {

// How the history's memory is divided, found before anything is made.
struct RingSizes {
    std::uint32_t pages = 0;
    std::uint32_t ticks = 0;
    std::uint32_t slots = 0;
    // Versions that readers and kept futures may hold on to.
    std::uint32_t pinned = 0;
    std::uint64_t bytes = 0;
};

// What a StateRing is, at an address that stays, for its readers hold on to it.
class RingCore {
public:
    // budget_exceeded when the bound is too small.
    [[nodiscard]] static Expected<RingSizes> measure(const StateRingOptions& options,
                                                     std::uint32_t pages) noexcept;

    explicit RingCore(LiveImage&& image) noexcept : image_(std::move(image)) {}

    // Takes over zeros of RingSizes::bytes, behind the core itself, and makes tick 0.
    Status start(const StateRingOptions& options, const RingSizes& sizes, MemoryBlock memory) noexcept;

    [[nodiscard]] const LiveImage& image() const noexcept { return image_; }
    [[nodiscard]] DirtyMap marks() const noexcept { return marks_; }
    [[nodiscard]] std::uint32_t newest() const noexcept { return newest_.load(std::memory_order_acquire); }
    [[nodiscard]] std::uint32_t oldest() const noexcept { return oldest_.load(std::memory_order_acquire); }

    Expected<Tick> commit() noexcept;
    Status rollback(Tick tick) noexcept;
    Expected<KeptFuture> branch(Tick tick) noexcept;
    Status drop(KeptFuture future) noexcept;
    [[nodiscard]] Expected<TickView> view(Tick tick) noexcept;
    [[nodiscard]] Expected<TickView> view(KeptFuture future, Tick tick) noexcept;
    [[nodiscard]] Expected<std::uint64_t> hash(Tick tick, SegmentKind kind) const noexcept;
    // As StateRing's functions of these names.
    Status keep_outside(std::string_view segment, MemoryBlock outside) noexcept;
    [[nodiscard]] OutsideRanges& outside() noexcept { return outside_; }
    Status mask(const void* address, std::size_t bytes) noexcept;
    Status unmask(const void* address, std::size_t bytes) noexcept;
    [[nodiscard]] const HashMasks& masks() const noexcept { return masks_; }
    // Before commit(), and after going back.
    void save_outside() noexcept { outside_.save(image_, marks_); }
    void follow_back(std::uint32_t tick) noexcept;
    [[nodiscard]] StateRingStats stats() const noexcept;
    [[nodiscard]] Status check() const noexcept;

    // As StateRing::changed.
    using ChangedFunction = void (*)(void* function, ChangedRange range);
    static void changed(const TickView& from, const TickView& to, ChangedFunction visit,
                        void* function) noexcept;

    // For views.
    [[nodiscard]] const std::byte* page_at(std::uint32_t page, std::uint32_t cell) const noexcept;
    [[nodiscard]] std::uint32_t slot_at(std::uint32_t page, std::uint32_t cell) const noexcept;
    [[nodiscard]] std::uint32_t find_slot(std::uint32_t page, LeaseTable::Lease at) const noexcept;
    void end_view(std::uint32_t cell) noexcept { leases_.end(cell); }

private:
    struct Pin {
        std::uint32_t page;
        std::uint32_t slot;
        std::uint32_t from;
        std::uint32_t until;
    };

    static void divide(const StateRingOptions& options, std::uint64_t slots, RingSizes& sizes) noexcept;
    void carve(Carver& carver, const RingSizes& sizes) noexcept;
    [[nodiscard]] Status status_of(Tick tick) const noexcept;
    Status collect() noexcept;

    // Commit.
    void make_room(std::uint32_t changes) noexcept;
    void give_up_oldest() noexcept;
    void give_up_pinned(const TickChanges& changes, std::uint32_t until) noexcept;
    void release_pins() noexcept;
    TickHashes capture(std::span<const std::uint32_t> pages, std::span<const std::uint32_t> slots) noexcept;
    TickHashes capture_some(std::span<const std::uint32_t> pages,
                            std::span<const std::uint32_t> slots) noexcept;
    void publish(std::span<const std::uint32_t> pages, std::span<const std::uint32_t> slots,
                 TickHashes hashes) noexcept;
    void add_version(std::uint32_t page, Version version, std::uint32_t needed_tick) noexcept;
    // Whether a version of the present timeline, of tick `from` and replaced at `until`, is read by anybody.
    [[nodiscard]] bool is_read(std::uint32_t page, std::uint32_t from, std::uint32_t until) const noexcept;
    [[nodiscard]] bool needs_base(std::uint8_t future, std::uint32_t page) const noexcept;

    // Rollback.
    Expected<std::uint8_t> go_back(std::uint32_t tick, bool keeps) noexcept;
    std::uint32_t list_changed_since(std::uint32_t tick) noexcept;
    void restore(std::span<const std::uint32_t> pages) noexcept;
    void restore_some(std::span<const std::uint32_t> pages) noexcept;
    void forget_since(std::uint32_t tick, std::span<const std::uint32_t> pages) noexcept;
    void move_to_future(std::uint8_t future, std::uint32_t tick,
                        std::span<const std::uint32_t> pages) noexcept;
    void move_page(std::uint8_t future, std::uint32_t tick, std::uint32_t page) noexcept;
    void prefetch_version(std::uint32_t slot) const noexcept;
    void cut_off(std::uint32_t page, std::uint32_t tick) noexcept;
    void drop_futures() noexcept;
    [[nodiscard]] std::uint64_t changes_since(std::uint32_t tick) const noexcept;

    [[nodiscard]] bool sees_once(std::uint32_t slot, std::uint64_t& count) const noexcept;

    // Calls with parts of 0 to count, on the workers where it is worth their while.
    template <class Work>
    void share_out(std::size_t count, Work&& work) noexcept {
        if (jobs_ == nullptr || count < kSharedPages)
            work(std::size_t{0}, count);
        else
            parallel_for(*jobs_, count, kChunkPages, work);
    }
    static constexpr std::size_t kSharedPages = 256;
    static constexpr std::size_t kChunkPages = 64;

    [[nodiscard]] std::byte* live(std::uint32_t page) const noexcept {
        return image_.block().data + (std::size_t{page} << kStatePageShift);
    }

    [[nodiscard]] std::uint64_t offset_of(const void* address) const noexcept {
        return static_cast<std::uint64_t>(static_cast<const std::byte*>(address) - image_.block().data);
    }

    LiveImage image_;
    DirtyMap marks_;
    WriteFinder finder_;
    SlotStore slots_;
    TickLog log_;
    VersionIndex index_;
    LeaseTable leases_;
    FutureStore futures_;
    OutsideRanges outside_;
    HashMasks masks_;
    // Room for the number of every page.
    std::span<std::uint32_t> scratch_;
    std::span<std::uint8_t> kinds_;
    std::span<DirtyMap::Byte> page_marks_;
    std::span<DirtyMap::Byte> group_marks_;
    // Versions that only readers still need.
    std::span<Pin> pins_;
    std::uint32_t pin_count_ = 0;
    // For check(): one for each slot.
    std::span<std::uint8_t> seen_;
    // How many pages have a version.
    std::atomic<std::uint32_t> touched_pages_ = 0;
    std::atomic<std::uint32_t> oldest_ = 0;
    std::atomic<std::uint32_t> newest_ = 0;
    bool hashes_ = true;
    JobPool* jobs_ = nullptr;
    StateRingStats stats_;
    BlockRegistration listing_;
};

}  // namespace ouro::detail
