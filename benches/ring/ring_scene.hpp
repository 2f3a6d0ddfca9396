#pragma once

#include "harness/case.hpp"
#include "harness/measure.hpp"
#include "harness/must.hpp"
#include "os/raw_memory.hpp"

#include <ouro/base/random.hpp>
#include <ouro/streams/state_ring.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace ouro::bench {

// Which pages a tick writes.
struct WritePattern {
    std::string name;
    // Of all pages, in thousandths.
    std::uint32_t permille = 0;
    // In one run, or anywhere.
    bool is_clustered = false;
    // The same ones every tick, or others.
    bool is_recurring = true;
};

// Those that every kind of commit is measured with.
[[nodiscard]] const std::vector<WritePattern>& commit_patterns();

// Lists of pages to write, tick after tick; each round of all candidates walks through the same ones.
class PageLists {
public:
    static constexpr std::uint32_t kLists = 16;

    PageLists(const WritePattern& pattern, std::uint32_t pages);

    [[nodiscard]] const std::vector<std::uint32_t>& at(std::uint64_t tick) const {
        return lists_[tick % lists_.size()];
    }
    [[nodiscard]] std::size_t pages_per_tick() const { return lists_.front().size(); }

private:
    std::vector<std::vector<std::uint32_t>> lists_;
};

// An image of one segment under a ring, every page of it written before.
class RingScene {
public:
    RingScene(std::size_t image_bytes, Tracking tracking, bool hashes, std::uint64_t history_bytes,
              JobPool* jobs = nullptr, bool fine = false);

    [[nodiscard]] StateRing& ring() { return ring_; }
    [[nodiscard]] MemoryBlock world() const { return world_; }
    [[nodiscard]] std::uint32_t pages() const {
        return static_cast<std::uint32_t>(world_.size / kStatePageBytes);
    }

    // Writes a word in each page of the list, declared where that is needed.
    void write(const std::vector<std::uint32_t>& list);
    void commit() { (void)must(ring_.commit(), "commit"); }

private:
    StateRing ring_;
    MemoryBlock world_;
    bool declares_;
    std::uint64_t serial_ = 0;
};

// Work that takes long and as long every time: only a few operations of each round are done, and stand for
// all.
[[nodiscard]] Work sampled(Work work);

inline constexpr Unit kPercent{"%", 1};

// Counts the pages in which ticks really differ from the one before. What a ring captures may be more: hot
// pages that it no longer asks about, and those that were written with what they held.
class ChangedPages {
public:
    explicit ChangedPages(const StateRing& ring);
    // After each commit.
    void count(const StateRing& ring);
    [[nodiscard]] std::uint64_t total() const { return total_; }

private:
    std::vector<std::byte> last_;
    std::uint64_t total_ = 0;
};

// What the ticks since then take, in a hundred of so many pages. Requires: none was given up.
[[nodiscard]] double percent_of_pages(const StateRing& ring, const StateRingStats& before,
                                      std::uint64_t pages);

// A copy of exactly the listed pages, past the caches, into memory so large that nobody finds it warm: what
// no commit can do without.
class RawCapture {
public:
    RawCapture(MemoryBlock image, std::size_t pool_bytes)
        : image_(image), pool_(filled_memory(std::max(pool_bytes, image.size))) {}

    void copy(const std::vector<std::uint32_t>& list);
    void copy_and_hash(const std::vector<std::uint32_t>& list);
    void copy_all();
    // Where the copies go is writable at once, whatever was done to it.
    void prefault();

private:
    [[nodiscard]] std::byte* next_page();

    MemoryBlock image_;
    RawMapping pool_;
    std::size_t at_ = 0;
    std::uint64_t hash_ = 0;
};

}  // namespace ouro::bench
