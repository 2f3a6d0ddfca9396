#pragma once

#include "lease_table.hpp"
#include "packed_store.hpp"
#include "version_index.hpp"
#include "version_reader.hpp"

#include <ouro/jobs/job.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <span>

namespace ouro::detail {

// What packs old versions, on a worker or wherever it is run. It reads the history and writes new records;
// the thread that commits puts them in the place of what they were made from, and until then leaves alone
// what the packer reads.
class HistoryPacker final : public Job {
public:
    // A version that can be kept elsewhere from now on.
    struct Result {
        VersionIndex::Word* place;
        std::uint32_t page;
        std::uint32_t from;
        std::uint32_t until;
        std::uint32_t old_word;
        std::uint32_t new_word;
    };
    struct TickPages {
        std::uint32_t tick = 0;
        std::span<const std::uint32_t> pages;
    };
    struct Sources {
        const VersionIndex* index;
        const SlotStore* slots;
        PackedStore* packed;
        const LeaseTable* leases;
        // Of each page; none where no segment is fine.
        std::span<const std::uint8_t> line_runs;
        bool has_hashes;
    };

    static constexpr std::uint32_t kMaxTicks = 64;
    static constexpr std::uint32_t kMaxGroup = 256;
    // In `Sources::line_runs`: not of a fine segment.
    static constexpr std::uint8_t kNotFine = 255;

    HistoryPacker() noexcept : Job(&run) {}

    void carve(Carver& carver, std::uint32_t pages, bool thins) noexcept;
    void start(const Sources& sources) noexcept { from_ = sources; }

    // For the thread that commits, while nothing is under way.
    void begin() noexcept;
    // The versions that this tick replaced; those of its pages from the given one on. False when enough was
    // asked.
    bool ask_pack(std::uint32_t tick, std::span<const std::uint32_t> pages, std::uint32_t first) noexcept;
    // Of the ticks behind `kept` up to `last` only the last stays; the group's ticks follow one by one.
    void ask_thin(std::uint32_t kept, std::uint32_t last) noexcept;
    void ask_thin_tick(TickPages tick) noexcept {
        group_[group_count_++] = tick;
        asked_pages_ += tick.pages.size();
    }
    [[nodiscard]] std::uint64_t asked_pages() const noexcept { return asked_pages_; }
    [[nodiscard]] bool is_asked() const noexcept { return tick_count_ != 0 || group_count_ != 0; }
    [[nodiscard]] std::size_t max_spare() const noexcept { return spare_room_.size(); }
    void give_spare(std::span<const std::uint32_t> slots) noexcept;

    // Under way: asked, and what came of it not yet taken.
    [[nodiscard]] bool is_under_way() const noexcept { return is_under_way_; }
    void set_under_way() noexcept { is_under_way_ = true; }
    void cancel() noexcept { is_cancelled_.store(true, std::memory_order_relaxed); }
    void work() noexcept;

    // What came of it, for the thread that commits. What was thinned out is taken as a whole or not at all:
    // its versions are packed against ones that are the next only afterwards.
    [[nodiscard]] std::span<const Result> packed() const noexcept { return results_.first(packed_count_); }
    [[nodiscard]] std::span<const Result> thinned() const noexcept {
        return results_.subspan(packed_count_, has_thinned_ ? result_count_ - packed_count_ : 0);
    }
    [[nodiscard]] std::uint32_t first_tick() const noexcept { return ticks_[0].tick; }
    [[nodiscard]] bool packs() const noexcept { return tick_count_ != 0; }
    [[nodiscard]] bool thins() const noexcept { return group_count_ != 0; }
    // Where to go on: all before this page of this tick's list is done.
    [[nodiscard]] std::uint32_t next_tick() const noexcept { return next_tick_; }
    [[nodiscard]] std::uint32_t next_page() const noexcept { return next_page_; }
    // Every page of the group is done; these are its pages.
    [[nodiscard]] bool has_thinned() const noexcept { return has_thinned_; }
    [[nodiscard]] std::uint32_t thinned_to() const noexcept { return last_; }
    [[nodiscard]] std::span<const std::uint32_t> group_pages() const noexcept {
        return group_pages_.first(group_page_count_);
    }
    // As if the group had not been done to its end.
    void leave_group() noexcept { has_thinned_ = false; }
    // The group is not taken; its pages begin anew when it is done again.
    void discard_thinned() noexcept;
    // Before any of it is taken: slots are given back when finish() has been through.
    void hold_new() noexcept;
    // Gives back what was not used; nothing is under way then.
    void finish(SlotStore& slots) noexcept;
    // The next version of the page that is packed stands for itself.
    void restart(std::uint32_t page) noexcept;

    // For check(): slots that are neither free nor in use.
    [[nodiscard]] std::span<const std::uint32_t> spare() const noexcept { return spare_.slots; }
    [[nodiscard]] std::span<const PackedStore::End, 2> ends() const noexcept { return open_; }

private:
    struct Encoded {
        std::uint32_t page;
        PackedRecord record;
        const std::byte* bytes;
    };

    static void run(Job& job) noexcept { static_cast<HistoryPacker&>(job).work(); }
    [[nodiscard]] bool is_stopped() const noexcept {
        return is_cancelled_.load(std::memory_order_relaxed) || result_count_ == results_.size();
    }
    void pack_ticks() noexcept;
    [[nodiscard]] bool pack_page(std::uint32_t page, std::uint32_t tick) noexcept;
    void thin_group() noexcept;
    void list_group() noexcept;
    [[nodiscard]] bool thin_page(std::uint32_t page) noexcept;
    [[nodiscard]] bool put(const VersionIndex::Located& version, Encoded encoded, PackedStore::End& end,
                           std::uint8_t& run) noexcept;
    [[nodiscard]] Encoded encode(std::uint32_t page, const std::byte* bytes, const std::byte* base,
                                 std::uint32_t base_tick, bool stands_alone) noexcept;
    [[nodiscard]] VersionIndex::Located locate(std::uint32_t page, std::uint32_t tick) const noexcept;
    [[nodiscard]] bool becomes_lines(std::uint32_t page, Version version) const noexcept;
    void read(std::uint32_t page, std::uint32_t word, std::byte* out) const noexcept;
    [[nodiscard]] std::byte* buffer(std::size_t number) const noexcept {
        return buffers_.data() + number * kStatePageBytes;
    }

    Sources from_{};
    std::array<TickPages, kMaxTicks> ticks_{};
    std::array<TickPages, kMaxGroup> group_{};
    std::uint32_t tick_count_ = 0;
    std::uint32_t group_count_ = 0;
    std::uint64_t asked_pages_ = 0;
    std::uint32_t next_tick_ = 0;
    std::uint32_t next_page_ = 0;
    std::uint32_t kept_ = 0;
    std::uint32_t last_ = 0;
    std::uint32_t group_page_count_ = 0;
    std::uint32_t result_count_ = 0;
    std::uint32_t packed_count_ = 0;
    bool has_thinned_ = false;
    bool is_under_way_ = false;
    std::atomic<bool> is_cancelled_ = false;

    std::span<Result> results_;
    std::span<std::uint32_t> spare_room_;
    PackedStore::Spare spare_;
    // Old and thinned-out history: where each ends, for the packer and for the thread that commits.
    std::array<PackedStore::End, 2> ends_{};
    std::array<PackedStore::End, 2> open_{};
    // By page: how many differences follow each other.
    std::array<std::span<std::uint8_t>, 2> runs_;
    std::span<std::uint8_t> group_marks_;
    std::span<std::uint32_t> group_pages_;
    std::span<std::byte> buffers_;
};

}  // namespace ouro::detail
