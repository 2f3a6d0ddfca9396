#include "owner_text.hpp"
#include "text_target.hpp"

#include <ouro/memory/tlsf_heap.hpp>
#include <ouro/streams/image_heap.hpp>
#include <ouro/streams/image_owner.hpp>
#include <ouro/streams/live_image.hpp>
#include <ouro/streams/state_ring.hpp>

namespace ouro {
namespace {

// A heap of foreign code begins with the segment.
ImageOwner owner_in_plain_heap(const StateRing& ring, MemoryBlock segment, std::uint64_t offset) noexcept {
    const std::byte* const image = ring.image().data;
    const auto place = TlsfHeap::find_place(segment, image + static_cast<std::size_t>(offset));
    return place ? detail::owner_of_place(*place, image) : ImageOwner{};
}

ImageOwner owner_seen(const StateRing& ring, std::uint64_t offset) noexcept {
    if (offset < kStatePageBytes)
        return {.kind = OwnerKind::image_header, .name = {}, .offset = 0, .bytes = kStatePageBytes};
    if (const auto outside = ring.outside_at(offset)) return *outside;
    for (const Segment& segment : ring.segments()) {
        if (offset - segment.offset >= segment.bytes) continue;
        const ImageOwner owner = ImageHeap::owner_at(ring, segment.name(), offset);
        if (owner.kind != OwnerKind::unknown) return owner;
        return owner_in_plain_heap(ring, *ring.segment_block(segment.name()), offset);
    }
    return {};
}

void write_place(detail::ListingWriter& writer, const ImageOwner& owner, std::uint64_t offset,
                 std::string_view what) noexcept {
    writer.text("byte ").number(offset - owner.offset).text(" of ").text(what);
}

void write_name(detail::ListingWriter& writer, const ImageOwner& owner) noexcept {
    if (!owner.name.is_empty()) writer.text(" '").text(owner.name.view()).text("'");
}

bool is_in_container(OwnerKind kind) noexcept {
    return kind == OwnerKind::pool_object || kind == OwnerKind::pool_place || kind == OwnerKind::element ||
           kind == OwnerKind::entry || kind == OwnerKind::entry_place;
}

}  // namespace

std::string_view owner_kind_name(OwnerKind kind) noexcept {
    switch (kind) {
        case OwnerKind::unknown:
            return "nobody known";
        case OwnerKind::named:
            return "what belongs to";
        case OwnerKind::image_header:
            return "the image's header";
        case OwnerKind::heap_records:
            return "the heap's own records";
        case OwnerKind::free_memory:
            return "free memory";
        case OwnerKind::heap_memory:
            return "blocks side by side";
        case OwnerKind::heap_block:
            return "a block";
        case OwnerKind::root:
            return "root";
        case OwnerKind::pool_object:
            return "object";
        case OwnerKind::pool_place:
            return "free place";
        case OwnerKind::element:
            return "element";
        case OwnerKind::outside:
            return "the copy of";
        case OwnerKind::entry:
            return "entry";
        case OwnerKind::entry_place:
            return "free entry";
        case OwnerKind::table_index:
            return "the index of";
        case OwnerKind::text:
            return "text";
    }
    return "unknown";
}

ImageOwner find_owner(const StateRing& ring, std::uint64_t offset,
                      std::span<const OwnerSource> sources) noexcept {
    if (offset >= ring.image().size) return {};
    const ConstOffsetBase base(ring.image().data, ring.image().size);
    for (const OwnerSource& source : sources) {
        ImageOwner owner;
        if (!source.find(source.context, base, offset, owner)) continue;
        owner.name = ImageOwner::name_of(source.name);
        return owner;
    }
    return owner_seen(ring, offset);
}

namespace detail {

void write_owner(ListingWriter& writer, const ImageOwner& owner, std::uint64_t offset) noexcept {
    if (owner.bytes == 0) {
        writer.text(owner_kind_name(owner.kind));
        return write_name(writer, owner);
    }
    write_place(writer, owner, offset, owner_kind_name(owner.kind));
    if (is_in_container(owner.kind)) writer.text(" ").number(owner.number).text(" of");
    if (owner.kind == OwnerKind::outside && owner.name.is_empty()) writer.text(" what lies outside");
    write_name(writer, owner);
    writer.text(" (").number(owner.bytes).text(" bytes");
    if (owner.address != nullptr)
        writer.text(" at ").address(reinterpret_cast<std::uintptr_t>(owner.address));
    writer.text(")");
}

}  // namespace detail

std::string_view describe_owner(const ImageOwner& owner, std::uint64_t offset,
                                std::span<char> text) noexcept {
    if (text.empty()) return {};
    detail::TextTarget target(text);
    detail::ListingWriter writer(target.sink());
    detail::write_owner(writer, owner, offset);
    return target.finish();
}

}  // namespace ouro
