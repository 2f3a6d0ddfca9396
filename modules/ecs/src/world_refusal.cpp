#include "text_piece.hpp"

#include <ouro/ecs/detail/world_core.hpp>
#include <ouro/ecs/world_refusal.hpp>

namespace ouro {
namespace {

using detail::TextPiece;

void add_segment(TextPiece& piece, const WorldRefusal& refusal) noexcept {
    piece.add("segment '").printable(refusal.segment.view()).add("'");
}

void add_options(TextPiece& piece, const WorldRefusal& refusal) noexcept {
    piece.add("max_entities ").number(refusal.max_entities);
    piece.add(" and max_archetypes ").number(refusal.max_archetypes);
}

void add_bad_argument(TextPiece& piece, const WorldRefusal& refusal) noexcept {
    if (refusal.max_entities == 0 || refusal.max_archetypes == 0 || refusal.max_archetypes > kMaxArchetypes) {
        add_options(piece, refusal);
        piece.add(" are asked for: there are one at least, and ").number(kMaxArchetypes);
        piece.add(" archetypes at most");
        return;
    }
    add_segment(piece, refusal);
    piece.add(" cannot hold a world: it is not SegmentKind::portable with Tracking::declared");
}

}  // namespace

std::string_view describe_refusal(const WorldRefusal& refusal, std::span<char> text) noexcept {
    if (text.empty()) return {};
    TextPiece piece(text);
    if (refusal.status == Status::bad_argument) {
        add_bad_argument(piece, refusal);
    } else if (refusal.status == Status::not_found) {
        piece.add("the ring has no ");
        add_segment(piece, refusal);
    } else if (refusal.status == Status::address_in_use) {
        add_segment(piece, refusal);
        piece.add(" has a world or a heap already: attach to it");
    } else if (refusal.status != Status::capacity_exhausted) {
        piece.add("the memory that a world takes outside the image could not be had");
    } else {
        add_options(piece, refusal);
        piece.add(" need ").number(refusal.needed_bytes).add(" bytes at least, and ");
        add_segment(piece, refusal);
        piece.add(" has ").number(refusal.segment_bytes);
    }
    return piece.add(" (").add(status_name(refusal.status)).add(")").view();
}

}  // namespace ouro
