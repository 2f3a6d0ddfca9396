#include "ring/ring_scene.hpp"

#include "os/os_suite.hpp"

#include <ouro/base/hash.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

namespace ouro::bench {

const std::vector<WritePattern>& commit_patterns() {
    static const std::vector<WritePattern> all = {
        {"0.1 % random, recurring", 1, false, true},
        {"0.1 % random", 1, false, false},
        {"0.1 % clustered", 1, true, false},
        {"1 % random, recurring", 10, false, true},
        {"1 % random", 10, false, false},
        {"1 % clustered", 10, true, false},
        {"10 % random, recurring", 100, false, true},
        {"10 % random", 100, false, false},
        {"10 % clustered", 100, true, false},
        {"100 %", 1000, true, true},
    };
    return all;
}

Work sampled(Work work) {
    return [work = std::move(work)](Round& round) {
        constexpr std::uint64_t kMost = 2;
        Round few(std::min(round.operations(), kMost));
        work(few);
        round.add_time(few.elapsed_ns() * static_cast<double>(round.operations()) /
                       static_cast<double>(few.operations()));
    };
}

PageLists::PageLists(const WritePattern& pattern, std::uint32_t pages) {
    const std::uint32_t count =
        std::max(1U, static_cast<std::uint32_t>(std::uint64_t{pages} * pattern.permille / 1000));
    const std::uint32_t lists = pattern.is_recurring ? 1 : kLists;
    Random random(pattern.permille);
    for (std::uint32_t list = 0; list < lists; ++list) {
        std::vector<std::uint32_t> chosen(pages);
        std::iota(chosen.begin(), chosen.end(), 0U);
        if (pattern.is_clustered) {
            const std::uint32_t begin = random.below(pages - count + 1);
            std::rotate(chosen.begin(), chosen.begin() + begin, chosen.end());
        } else {
            for (std::uint32_t index = 0; index < count; ++index)
                std::swap(chosen[index], chosen[index + random.below(pages - index)]);
        }
        chosen.resize(count);
        std::ranges::sort(chosen);
        lists_.push_back(std::move(chosen));
    }
}

RingScene::RingScene(std::size_t image_bytes, Tracking tracking, bool hashes, std::uint64_t history_bytes,
                     JobPool* jobs, bool fine)
    : declares_(tracking == Tracking::declared) {
    const SegmentOptions segment{.name = "world", .bytes = image_bytes, .tracking = tracking, .fine = fine};
    ring_ = must(StateRing::create({.segments = {&segment, 1},
                                    .history_bytes = history_bytes,
                                    .unpacked_bytes = fine ? image_bytes / 8 : 0,
                                    .hashes = hashes,
                                    .prefaults = true,
                                    .jobs = jobs}),
                 "create the ring");
    world_ = must(ring_.segment_block("world"), "find the segment");
    for (std::size_t at = 0; at < world_.size; at += sizeof(std::uint64_t)) {
        const std::uint64_t value = at * 0x9e3779b97f4a7c15U + 1;
        std::memcpy(world_.data + at, &value, sizeof(value));
    }
    must(ring_.mark(world_.data, world_.size) == Status::ok, "mark");
    commit();
}

void RingScene::write(const std::vector<std::uint32_t>& list) {
    ++serial_;
    for (const std::uint32_t page : list) {
        std::byte* at = world_.data + std::size_t{page} * kStatePageBytes + (serial_ * 64) % kStatePageBytes;
        if (declares_) (void)ring_.mark(at, sizeof(serial_));
        std::memcpy(at, &serial_, sizeof(serial_));
    }
}

ChangedPages::ChangedPages(const StateRing& ring) : last_(ring.image().begin(), ring.image().end()) {}

void ChangedPages::count(const StateRing& ring) {
    const std::byte* const image = ring.image().data;
    for (std::size_t at = 0; at < last_.size(); at += kStatePageBytes) {
        if (std::memcmp(&last_[at], image + at, kStatePageBytes) == 0) continue;
        std::memcpy(&last_[at], image + at, kStatePageBytes);
        ++total_;
    }
}

double percent_of_pages(const StateRing& ring, const StateRingStats& before, std::uint64_t pages) {
    const StateRingStats stats = ring.stats();
    must(stats.ticks_given_up == before.ticks_given_up, "keep all ticks");
    const std::uint64_t used = (stats.slots - stats.free_slots) - (before.slots - before.free_slots);
    return 100 * static_cast<double>(used) / static_cast<double>(pages);
}

std::byte* RawCapture::next_page() {
    std::byte* page = pool_.block().data + at_;
    at_ = at_ + kPage == pool_.block().size ? 0 : at_ + kPage;
    return page;
}

void RawCapture::copy(const std::vector<std::uint32_t>& list) {
    for (const std::uint32_t page : list)
        copy_streaming(next_page(), image_.data + std::size_t{page} * kPage, kPage);
    finish_streaming();
}

void RawCapture::copy_and_hash(const std::vector<std::uint32_t>& list) {
    for (const std::uint32_t page : list) {
        const std::byte* from = image_.data + std::size_t{page} * kPage;
        copy_streaming(next_page(), from, kPage);
        hash_ += hash_bytes(from, kPage, page);
    }
    finish_streaming();
    keep(hash_);
}

void RawCapture::copy_all() {
    if (at_ + image_.size > pool_.block().size) at_ = 0;
    copy_streaming(pool_.block().data + at_, image_.data, image_.size);
    at_ = at_ + image_.size == pool_.block().size ? 0 : at_ + image_.size;
    finish_streaming();
}

void RawCapture::prefault() {
    must(os::prefault(pool_.block()), "prefault");
}

}  // namespace ouro::bench
