#include "owner_text.hpp"
#include "ring_core.hpp"
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
    if (const auto told = ring.told_owner(offset)) return *told;
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

// By whoever told it.
void write_words(detail::ListingWriter& writer, const ImageOwner& owner, std::uint64_t offset) noexcept {
    writer.text(owner_kind_name(owner.kind));
    write_name(writer, owner);
    writer.text(": ").text(owner.words.view());
    if (owner.bytes > 1)
        writer.text(", byte ").number(offset - owner.offset).text(" of ").number(owner.bytes);
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
        case OwnerKind::value:
        case OwnerKind::record:
            return "world";
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

Status RingCore::tell_owners(std::string_view segment, SegmentOwnerFunction find) noexcept {
    const auto segments = image_.segments();
    for (std::size_t number = 0; number < segments.size(); ++number) {
        if (segments[number].name() != segment) continue;
        owner_functions_[number] = find;
        return Status::ok;
    }
    return Status::not_found;
}

Expected<ImageOwner> RingCore::told_owner(std::uint64_t offset) const noexcept {
    const auto segments = image_.segments();
    for (std::size_t number = 0; number < segments.size(); ++number) {
        const Segment& segment = segments[number];
        if (owner_functions_[number] == nullptr || offset - segment.offset >= segment.bytes) continue;
        ImageOwner owner;
        if (owner_functions_[number](segment.name(), image_.base(), offset, owner)) return owner;
    }
    return Status::not_found;
}

void write_owner(ListingWriter& writer, const ImageOwner& owner, std::uint64_t offset) noexcept {
    if (!owner.words.is_empty()) return write_words(writer, owner, offset);
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
