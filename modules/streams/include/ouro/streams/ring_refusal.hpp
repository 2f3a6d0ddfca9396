#pragma once

#include <ouro/base/status.hpp>
#include <ouro/streams/segment.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace ouro {

// What was wrong with the options of an image or a ring.
enum class RingFault : std::uint8_t {
    none,
    no_segments,
    // `value` segments, of `bound` at the most.
    too_many_segments,
    // Of the segment named; of a name that is too long, its beginning.
    segment_empty,
    segment_name,
    segment_name_twice,
    // Neither portable nor process-bound.
    segment_kind,
    // At offset `value`, which is no multiple of `bound`.
    segment_place,
    // At offset `value`, before the end of `other`, which is `bound`.
    segments_overlap,
    // Ends at `value`, where `bound` is the end of every image.
    image_too_large,
    fine_not_declared,
    tracking_not_offered,
    table_and_address,
    // `value` ticks, of `bound` at the most.
    history_ticks,
    thinning,
    // `value` bytes, where `bound` are needed.
    history_bytes,
    // Every page twice and what readers may pin makes `value` pages, where `bound` are the most of any
    // history.
    history_pages,
    // The system, or the table, had no memory of `value` bytes; for the segment named, no tracker.
    image_memory,
    history_memory,
    tracker,
};

// Why StateRing::create or LiveImage::create refused, beyond its status.
struct RingRefusal {
    Status status = Status::ok;
    RingFault fault = RingFault::none;
    // Of the segments that it is about; empty when it is about none.
    std::array<char, kSegmentNameBytes> segment_text{};
    std::array<char, kSegmentNameBytes> other_text{};
    std::uint64_t value = 0;
    std::uint64_t bound = 0;

    [[nodiscard]] std::string_view segment() const noexcept { return segment_text.data(); }
    [[nodiscard]] std::string_view other() const noexcept { return other_text.data(); }
};

// Writes it as a sentence, cut where the text is full, with a zero at the end: "history_bytes is 1048576, but
// these segments and settings need 2490368 at least (budget_exceeded)". 200 characters hold all of them.
// Returns what was written, without the zero.
std::string_view describe_refusal(const RingRefusal& refusal, std::span<char> text) noexcept;

}  // namespace ouro
