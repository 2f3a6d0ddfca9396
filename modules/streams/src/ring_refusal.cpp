#include "text_target.hpp"

#include <ouro/streams/ring_refusal.hpp>

namespace ouro {
namespace {

using detail::ListingWriter;

void write_segment(ListingWriter& writer, const RingRefusal& refusal) noexcept {
    writer.text("segment '").text(refusal.segment()).text("' ");
}

void write_segment_fault(ListingWriter& writer, const RingRefusal& refusal) noexcept {
    switch (refusal.fault) {
        case RingFault::segment_empty:
            writer.text("has no bytes");
            break;
        case RingFault::segment_name_twice:
            writer.text("is there twice; each has a name of its own");
            break;
        case RingFault::segment_kind:
            writer.text("is neither portable nor process-bound");
            break;
        case RingFault::segment_place:
            writer.text("is to lie at offset ").number(refusal.value).text(", which is no multiple of ");
            writer.number(refusal.bound);
            break;
        case RingFault::segments_overlap:
            writer.text("at offset ").number(refusal.value).text(" overlaps '").text(refusal.other());
            writer.text("', which ends at ").number(refusal.bound);
            break;
        case RingFault::image_too_large:
            writer.text("would end at ").number(refusal.value).text(" bytes; an image has ");
            writer.number(refusal.bound).text(" at the most");
            break;
        case RingFault::fine_not_declared:
            writer.text("is fine, which needs declared tracking");
            break;
        case RingFault::tracking_not_offered:
            writer.text(
                "is to be tracked in a way that this machine does not offer; `ouro doctor` says "
                "what it offers, and Tracking::automatic takes the best of it");
            break;
        default:
            writer.text("could not be tracked");
            break;
    }
}

void write_history_fault(ListingWriter& writer, const RingRefusal& refusal) noexcept {
    if (refusal.fault == RingFault::history_bytes) {
        writer.text("history_bytes is ")
            .number(refusal.value)
            .text(", but these segments and settings need ");
        writer.number(refusal.bound).text(" at least");
    } else if (refusal.fault == RingFault::history_pages) {
        writer.text("these segments and reader_bytes need a history of ").number(refusal.value);
        writer.text(" pages, where ").number(refusal.bound).text(" are the most");
    } else if (refusal.fault == RingFault::history_ticks) {
        writer.text("history_ticks, thinned_ticks and dense_ticks make ").number(refusal.value);
        writer.text(" ticks, where 1 to ").number(refusal.bound).text(" can be kept, and at least one whole");
    } else {
        writer.text("thinned_ticks need packing, and thin_every from 2 to ").number(refusal.bound);
    }
}

void write_fault(ListingWriter& writer, const RingRefusal& refusal) noexcept {
    switch (refusal.fault) {
        case RingFault::none:
            writer.text("nothing more is known");
            break;
        case RingFault::no_segments:
            writer.text("there are no segments");
            break;
        case RingFault::too_many_segments:
            writer.number(refusal.value).text(" segments, where ").number(refusal.bound);
            writer.text(" are the most that an image can have");
            break;
        case RingFault::segment_name:
            writer.text("a segment's name '").text(refusal.segment()).text("' has ").number(refusal.value);
            writer.text(" characters, where it can have 1 to ").number(refusal.bound);
            break;
        case RingFault::table_and_address:
            writer.text("the image is to lie in a table and at an address of its own");
            break;
        case RingFault::history_ticks:
        case RingFault::thinning:
        case RingFault::history_bytes:
        case RingFault::history_pages:
            write_history_fault(writer, refusal);
            break;
        case RingFault::image_memory:
            writer.text("the image got no memory of ").number(refusal.value).text(" bytes");
            break;
        case RingFault::history_memory:
            writer.text("the history got no memory of ").number(refusal.value).text(" bytes");
            break;
        default:
            write_segment(writer, refusal);
            write_segment_fault(writer, refusal);
            break;
    }
}

}  // namespace

std::string_view describe_refusal(const RingRefusal& refusal, std::span<char> text) noexcept {
    if (text.empty()) return {};
    detail::TextTarget target(text);
    ListingWriter writer(target.sink());
    if (refusal.status == Status::ok) {
        writer.text("nothing was refused");
    } else {
        write_fault(writer, refusal);
        writer.text(" (").text(status_name(refusal.status)).text(")");
    }
    return target.finish();
}

}  // namespace ouro
