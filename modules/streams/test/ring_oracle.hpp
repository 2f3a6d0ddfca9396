#pragma once

#include "oracle_images.hpp"
#include "oracle_masks.hpp"
#include "oracle_outside.hpp"
#include "oracle_spells.hpp"

#include <ouro/base/random.hpp>
#include <ouro/streams/state_ring.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace ouro::testing_support {

// Keeps a full copy of every tick beside a ring, and does the same to both: random writes, commits, rollbacks
// and views, ticks saved and loaded; some bytes do not count in hashes, and some memory is kept that lies
// outside. Whatever can be read must be equal, byte for byte, and so must hashes.
class RingOracle {
public:
    using Bytes = std::vector<std::byte>;

    // A calm one seldom goes back, so that its history becomes long. With bursts, now and then so many pages
    // of the first segment are written in one tick.
    RingOracle(StateRing& ring, std::uint64_t seed, bool is_calm = false, std::uint32_t burst_pages = 0)
        : ring_(ring), random_(seed), is_calm_(is_calm), burst_pages_(burst_pages) {
        copies_[0] = live_bytes();
        hashes_[0] = masks_.hash(copies_[0]);
    }

    void step() {
        if (random_.below(50) == 0) return change_what_counts();
        if (random_.below(40) == 0) return random_.below(2) == 0 ? save() : load();
        std::uint32_t choice = random_.below(100);
        const bool goes_back = choice >= 75 && choice < 83;
        if (is_calm_ && goes_back && random_.below(8) != 0) choice = kCommitChoice;
        if (choice < 45)
            burst_pages_ != 0 && random_.below(3) == 0 ? write_burst() : write_some();
        else if (choice < 75)
            commit();
        else if (choice < 80)
            roll_back();
        else if (choice < 81)
            restore();
        else if (choice < 83)
            random_.below(3) == 0 ? drop_future() : branch();
        else if (choice < 90)
            take_view();
        else if (choice < 95)
            drop_view();
        else if (choice < 98)
            compare_some();
        else
            compare_changes();
    }

    void commit() {
        spells_.write(ring_, random_);
        const auto tick = spells_.ask(random_, [&] { return ring_.commit(); });
        ASSERT_TRUE(tick) << status_name(tick.status());
        copies_[*tick] = live_bytes();
        hashes_[*tick] = masks_.hash(copies_[*tick]);
        outside_.expect_kept(copies_[*tick]);
        has_dropped_ = false;
        forget_given_up();
        most_packed_ = std::max(most_packed_, ring_.stats().packed_versions);
        most_captured_ = std::max<std::uint64_t>(most_captured_, ring_.stats().last_pages);
        ASSERT_EQ(ring_.check(), Status::ok);
        expect_hash(*tick);
    }

    void roll_back() {
        const Tick tick = any_tick();
        expect_thinned_are_refused();
        const std::uint64_t restored = ring_.stats().pages_restored;
        outside_.remember();
        ASSERT_EQ(spells_.ask(random_, [&] { return ring_.rollback(tick); }).status(), Status::ok);
        most_restored_ = std::max(most_restored_, ring_.stats().pages_restored - restored);
        outside_.expect_back(copies_.at(tick), tick);
        expect_gone_to(tick);
    }

    // Thinned-out ticks too: the simulation that is repeated is the copies. Its hashes are those of the
    // masks of now, so that it ends where they are others.
    void restore() {
        const Tick oldest = ring_.oldest();
        const Tick tick = oldest + random_.below(static_cast<std::uint32_t>(ring_.newest() - oldest + 1));
        const Tick start = *ring_.nearest(tick);
        Tick end = start;
        bool diverges = false;
        while (end != tick && !diverges) {
            ++end;
            diverges = masks_.hash(copies_.at(end)) != hashes_.at(end);
        }
        outside_.remember();
        Tick begun = start;
        const auto step = [&](Tick each) {
            if (begun == start) outside_.expect_back(copies_.at(start), start);
            begun = each;
            write_all(copies_.at(each));
            outside_.become(copies_.at(each));
        };
        ASSERT_EQ(ring_.restore(tick, step).status(), diverges ? Status::diverged : Status::ok);
        ASSERT_EQ(begun, end);
        if (begun == start) outside_.expect_back(copies_.at(start), start);
        hashes_[end] = diverges ? masks_.hash(copies_.at(end)) : hashes_.at(end);
        expect_hash(end);
        outside_.expect_kept_since(copies_.at(end), end);
        expect_gone_to(end);
    }

    void branch() {
        const Tick newest = ring_.newest();
        const Tick tick = any_tick();
        std::vector<Tick> kept;
        for (auto each = copies_.upper_bound(tick); each != copies_.end(); ++each)
            if (*ring_.nearest(each->first) == each->first) kept.push_back(each->first);
        outside_.remember();
        const auto future = ring_.branch(tick);
        if (!future) {
            // Nothing lies behind the newest tick, and keeping may cost more than is left.
            const Status wanted = tick == newest ? Status::out_of_range : Status::budget_exceeded;
            ASSERT_EQ(future.status(), wanted);
            ASSERT_EQ(ring_.newest(), newest);
            return;
        }
        outside_.expect_back(copies_.at(tick), tick);
        expect_live(copies_.at(tick));
        std::map<Tick, Bytes> behind;
        for (auto each = copies_.upper_bound(tick); each != copies_.end(); each = copies_.erase(each))
            behind.insert(*each);
        // Only what was kept stays.
        std::erase_if(behind,
                      [&](const auto& each) { return !std::ranges::binary_search(kept, each.first); });
        futures_.emplace_back(*future, std::move(behind));
        forget_given_up();
        ASSERT_EQ(ring_.check(), Status::ok);
    }

    void drop_future() {
        if (futures_.empty()) return;
        const std::uint32_t index = random_.below(static_cast<std::uint32_t>(futures_.size()));
        const KeptFuture future = futures_[index].first;
        const Tick tick = futures_[index].second.begin()->first;
        ASSERT_EQ(ring_.drop(future).status(), Status::ok);
        ASSERT_EQ(ring_.drop(future).status(), Status::stale_handle);
        ASSERT_EQ(ring_.view(future, tick).status(), Status::stale_handle);
        futures_.erase(futures_.begin() + static_cast<std::ptrdiff_t>(index));
        has_dropped_ = true;
        ASSERT_EQ(ring_.check(), Status::ok);
    }

    void compare_some() {
        if (!futures_.empty() && random_.below(2) == 0) return compare_future();
        expect_thinned_are_refused();
        const Tick tick = any_tick();
        auto view = ring_.view(tick);
        // Refused only when the readers' quota is used up.
        if (!view) {
            expect_quota_is_used(view.status());
            return;
        }
        expect_view(*view, copies_.at(tick));
        expect_hash(tick);
    }

    void drop_all_views() {
        for (auto& [view, bytes] : views_)
            expect_view(view, bytes);
        views_.clear();
    }

    // The most that was ever packed at once, and how often a tick was found to be thinned out.
    [[nodiscard]] std::uint64_t most_packed() const { return most_packed_; }
    [[nodiscard]] std::uint64_t thinned_seen() const { return thinned_seen_; }
    // The most pages of one commit, and of one rollback.
    [[nodiscard]] std::uint64_t most_captured() const { return most_captured_; }
    [[nodiscard]] std::uint64_t most_restored() const { return most_restored_; }
    [[nodiscard]] std::uint64_t loads() const { return images_.loads(); }
    [[nodiscard]] const OracleSpells& spells() const { return spells_; }

private:
    static constexpr std::uint32_t kCommitChoice = 60;

    void change_what_counts() {
        random_.below(2) == 0 ? masks_.change(ring_, random_) : outside_.change(ring_, random_);
    }

    void save() {
        const Tick tick = any_tick();
        const auto view = ring_.view(tick);
        if (!view) return expect_quota_is_used(view.status());
        images_.save(*view, copies_.at(tick), random_);
    }

    // Two ticks more: what there was, which is committed already, and what was loaded.
    void load() {
        commit();
        const Tick before = ring_.newest();
        Bytes image = copies_.at(before);
        const Tick last = images_.load(ring_, random_, image) ? before + 2 : before;
        ASSERT_EQ(ring_.newest(), last);
        expect_live(image);
        for (Tick tick = before + 1; tick <= last; ++tick) {
            copies_[tick] = tick == last ? image : copies_.at(before);
            hashes_[tick] = masks_.hash(copies_[tick]);
        }
        forget_given_up();
        expect_hash(last);
        ASSERT_EQ(ring_.check(), Status::ok);
    }

    // The image is what it was then, and later ticks are no more.
    void expect_gone_to(Tick tick) {
        ASSERT_EQ(ring_.newest(), tick);
        expect_live(copies_.at(tick));
        copies_.erase(copies_.upper_bound(tick), copies_.end());
        forget_given_up();
        ASSERT_EQ(ring_.check(), Status::ok);
    }

    // Only readers and kept futures make a view impossible; those that ended count until the next commit.
    void expect_quota_is_used(Status status) const {
        ASSERT_EQ(status, Status::budget_exceeded);
        ASSERT_TRUE(!views_.empty() || !futures_.empty() || has_dropped_);
    }

    void compare_future() {
        const auto& [future, copies] = futures_[random_.below(static_cast<std::uint32_t>(futures_.size()))];
        auto each = copies.begin();
        std::advance(each, random_.below(static_cast<std::uint32_t>(copies.size())));
        auto view = ring_.view(future, each->first);
        if (!view) return expect_quota_is_used(view.status());
        expect_view(*view, each->second);
        if (views_.size() < 20) views_.emplace_back(*std::move(view), each->second);
    }

    Bytes live_bytes() const {
        const MemoryBlock image = ring_.image();
        return {image.begin(), image.end()};
    }

    // One that is kept.
    Tick any_tick() {
        const Tick oldest = ring_.oldest();
        return *ring_.nearest(oldest +
                              random_.below(static_cast<std::uint32_t>(ring_.newest() - oldest + 1)));
    }

    void forget_given_up() {
        copies_.erase(copies_.begin(), copies_.lower_bound(ring_.oldest()));
        hashes_.erase(hashes_.begin(), hashes_.lower_bound(ring_.oldest()));
    }

    void expect_hash(Tick tick) const {
        const auto hash = ring_.hash(tick);
        const auto other = ring_.hash(tick, SegmentKind::process_bound);
        ASSERT_TRUE(hash && other);
        ASSERT_EQ(*hash + *other, hashes_.at(tick));
    }

    void expect_thinned_are_refused() {
        const Tick oldest = ring_.oldest();
        const Tick tick = oldest + random_.below(static_cast<std::uint32_t>(ring_.newest() - oldest + 1));
        if (*ring_.nearest(tick) == tick) return;
        ++thinned_seen_;
        ASSERT_EQ(ring_.view(tick).status(), Status::tick_thinned);
        ASSERT_EQ(ring_.rollback(tick).status(), Status::tick_thinned);
        ASSERT_EQ(ring_.branch(tick).status(), Status::tick_thinned);
        expect_hash(tick);
    }

    // The image becomes these bytes. As everywhere here, only what has to be declared is marked: a mark would
    // hide that a tracker has lost a page.
    void write_all(const Bytes& wanted) {
        for (const Segment& segment : ring_.segments()) {
            const auto end = static_cast<std::size_t>(segment.offset + segment.bytes);
            for (auto at = static_cast<std::size_t>(segment.offset); at < end; at += kStatePageBytes) {
                std::byte* const page = ring_.image().data + at;
                if (std::memcmp(page, &wanted[at], kStatePageBytes) == 0) continue;
                std::memcpy(page, &wanted[at], kStatePageBytes);
                if (segment.tracking == Tracking::declared) (void)ring_.mark(page, kStatePageBytes);
            }
        }
    }

    // Runs of bytes and single ones, in few pages or many; now and then back to zero, or the same again.
    void write_some() {
        if (random_.below(4) == 0) outside_.write(random_);
        // But the last, which has copies of what is outside.
        const std::span<const Segment> segments = ring_.segments();
        const Segment& segment = segments[random_.below(static_cast<std::uint32_t>(segments.size() - 1))];
        const auto space = static_cast<std::uint32_t>(segment.bytes);
        const std::uint32_t near = random_.below(4) == 0 ? space : std::min(space, 3U * 4096U);
        for (std::uint32_t count = 1 + random_.below(8); count != 0; --count) {
            const std::uint32_t bytes = 1 + random_.below(random_.below(4) == 0 ? 6000 : 40);
            const std::uint32_t at = random_.below(near - std::min(near - 1, bytes));
            std::byte* to = ring_.image().data + segment.offset + at;
            const std::uint32_t fit = std::min(bytes, space - at);
            if (segment.tracking == Tracking::declared) {
                ASSERT_EQ(ring_.mark(to, fit), Status::ok);
            }
            if (random_.below(8) == 0) continue;
            const auto value = static_cast<int>(random_.below(6) == 0 ? 0 : random_.below(256));
            std::memset(to, value, fit);
        }
    }

    // Some bytes in each page of a run.
    void write_burst() {
        const Segment& segment = ring_.segments()[0];
        const std::uint32_t begin = random_.below(segment.page_count() - burst_pages_ + 1);
        const auto value = static_cast<int>(random_.below(256));
        for (std::uint32_t page = begin; page < begin + burst_pages_; ++page) {
            const std::uint32_t at = random_.below(kStatePageBytes - 100);
            std::byte* to = ring_.image().data + segment.offset + std::size_t{page} * kStatePageBytes + at;
            if (segment.tracking == Tracking::declared) {
                ASSERT_EQ(ring_.mark(to, 100), Status::ok);
            }
            std::memset(to, value, 1 + random_.below(100));
        }
    }

    void take_view() {
        if (views_.size() > 20) return;
        const Tick tick = any_tick();
        auto view = ring_.view(tick);
        if (!view) {
            expect_quota_is_used(view.status());
            return;
        }
        views_.emplace_back(*std::move(view), copies_.at(tick));
    }

    void drop_view() {
        if (views_.empty()) return;
        const std::uint32_t index = random_.below(static_cast<std::uint32_t>(views_.size()));
        expect_view(views_[index].first, views_[index].second);
        std::swap(views_[index], views_.back());
        views_.pop_back();
        has_dropped_ = true;
    }

    void compare_changes() {
        const Tick from = any_tick();
        const Tick to = any_tick();
        Bytes patched = copies_.at(from);
        const Bytes& wanted = copies_.at(to);
        const Status status = ring_.changed(from, to, [&](ChangedRange range) {
            ASSERT_LE(range.offset + range.bytes, patched.size());
            const auto at = static_cast<std::size_t>(range.offset);
            const auto bytes = static_cast<std::size_t>(range.bytes);
            ASSERT_NE(std::memcmp(&patched[at], &wanted[at], bytes), 0);
            std::memcpy(&patched[at], &wanted[at], bytes);
        });
        if (status != Status::ok) {
            ASSERT_EQ(status, Status::budget_exceeded);
            return;
        }
        ASSERT_TRUE(patched == wanted) << "from " << from << " to " << to;
    }

    void expect_live(const Bytes& wanted) const { expect_pages(live_bytes(), wanted, ring_.newest()); }
    static void expect_view(const TickView& view, const Bytes& wanted) {
        Bytes bytes(wanted.size());
        ASSERT_EQ(view.read(0, bytes), Status::ok);
        expect_pages(bytes, wanted, view.tick());
    }

    StateRing& ring_;
    Random random_;
    bool is_calm_;
    std::uint32_t burst_pages_;
    std::uint64_t most_captured_ = 0;
    std::uint64_t most_restored_ = 0;
    std::uint64_t most_packed_ = 0;
    std::uint64_t thinned_seen_ = 0;
    OracleImages images_;
    OracleSpells spells_;
    OracleMasks masks_;
    OracleOutside outside_;
    std::map<Tick, Bytes> copies_;
    // With the masks that there were when they were committed; also of ticks that are no more.
    std::map<Tick, std::uint64_t> hashes_;
    bool has_dropped_ = false;
    std::vector<std::pair<TickView, Bytes>> views_;
    std::vector<std::pair<KeptFuture, std::map<Tick, Bytes>>> futures_;
};

}  // namespace ouro::testing_support
