#pragma once

#include "page_copy.hpp"

#include <ouro/base/status.hpp>
#include <ouro/streams/state_page.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace ouro::detail {

// Bytes of the image that count as zero in its hash. Few, and none for most: then a page costs one test more.
class HashMasks {
public:
    static constexpr std::size_t kMaxMasks = 256;

    struct Mask {
        std::uint64_t offset = 0;
        std::uint64_t bytes = 0;
        // The first tick whose hash leaves it out.
        std::uint32_t since = 0;

        [[nodiscard]] std::uint64_t end() const noexcept { return offset + bytes; }
    };

    // Requires: within the image. address_in_use when it overlaps another, capacity_exhausted.
    Status add(const Mask& mask) noexcept;
    // not_found when there is none exactly like it. `since` is the first tick whose hash counts it again.
    Status remove(std::uint64_t offset, std::uint64_t bytes, std::uint32_t since) noexcept;

    [[nodiscard]] bool covers(std::uint64_t offset) const noexcept;
    // Whether there has ever been one; from any thread.
    [[nodiscard]] bool was_used() const noexcept { return was_used_.load(std::memory_order_relaxed); }

    // As hash_page(), of the page without what is masked.
    [[nodiscard]] std::uint64_t hash(const std::byte* page, std::uint32_t number) const noexcept {
        return count_ == 0 ? hash_page(page, number) : hash_around(page, number);
    }

    // Calls with each page of a mask that was added or removed behind the tick; from now on it is so from the
    // next one on.
    template <class Visit>
    void renew_behind(std::uint32_t tick, Visit&& visit) noexcept {
        for (const std::span<Mask> masks :
             {std::span(masks_).first(count_), std::span(removed_).first(removed_count_)}) {
            for (Mask& mask : masks) {
                if (mask.since <= tick) continue;
                mask.since = tick + 1;
                visit_pages(mask, visit);
            }
        }
    }
    template <class Visit>
    static void visit_pages(const Mask& mask, Visit&& visit) noexcept {
        for (std::uint64_t page = mask.offset >> kStatePageShift; page <= (mask.end() - 1) >> kStatePageShift;
             ++page)
            visit(static_cast<std::uint32_t>(page));
    }

private:
    [[nodiscard]] std::uint64_t hash_around(const std::byte* page, std::uint32_t number) const noexcept;
    void note_removed(const Mask& mask) noexcept;
    // The first that ends behind the offset.
    [[nodiscard]] std::size_t first_behind(std::uint64_t offset) const noexcept;

    // By ascending offsets.
    std::array<Mask, kMaxMasks> masks_{};
    std::size_t count_ = 0;
    // Bytes that were masked once. When there are too many, the last entry covers several, and what is
    // between.
    std::array<Mask, kMaxMasks> removed_{};
    std::size_t removed_count_ = 0;
    std::atomic<bool> was_used_ = false;
};

}  // namespace ouro::detail
