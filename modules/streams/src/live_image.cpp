#include "refuse.hpp"

#include <ouro/base/align.hpp>
#include <ouro/os/capabilities.hpp>
#include <ouro/os/tracker_choice.hpp>
#include <ouro/streams/live_image.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

namespace ouro {
namespace {

Tracking tracking_of(os::TrackerKind kind) noexcept {
    switch (kind) {
        case os::TrackerKind::kernel:
            return Tracking::kernel;
        case os::TrackerKind::protect:
            return Tracking::protect;
        case os::TrackerKind::compare:
            break;
    }
    return Tracking::compare;
}

bool is_offered(Tracking tracking, const os::Capabilities& capabilities) noexcept {
    if (tracking == Tracking::kernel) return capabilities.kernel_tracking();
    if (tracking == Tracking::protect) return capabilities.page_protection;
    return true;
}

}  // namespace

std::string_view tracking_name(Tracking tracking) noexcept {
    switch (tracking) {
        case Tracking::declared:
            return "declared";
        case Tracking::automatic:
            return "automatic";
        case Tracking::kernel:
            return "kernel";
        case Tracking::protect:
            return "protect";
        case Tracking::compare:
            return "compare";
    }
    return "unknown";
}

std::string_view segment_kind_name(SegmentKind kind) noexcept {
    return kind == SegmentKind::portable ? "portable" : "process-bound";
}

// Not member by member: mappings end before the addresses that they lie in.
LiveImage& LiveImage::operator=(LiveImage&& other) noexcept {
    if (this != &other) {
        std::destroy_at(this);
        std::construct_at(this, std::move(other));
    }
    return *this;
}

Expected<LiveImage> LiveImage::create(const LiveImageOptions& options, RingRefusal* refusal) noexcept {
    LiveImage image;
    RingRefusal why;
    const Status status = image.start(options, why);
    if (refusal != nullptr) *refusal = why;
    if (status != Status::ok) return status;
    return image;
}

Expected<std::uint64_t> LiveImage::measure(std::span<const SegmentOptions> segments,
                                           RingRefusal* refusal) noexcept {
    LiveImage image;
    RingRefusal why;
    const Status status = image.place(segments, why);
    if (refusal != nullptr) *refusal = why;
    if (status != Status::ok) return status;
    const Segment& last = image.placed().back();
    return last.offset + last.bytes;
}

Status LiveImage::start(const LiveImageOptions& options, RingRefusal& why) noexcept {
    if (const Status status = place(options.segments, why); status != Status::ok) return status;
    if (const Status status = choose_tracking(why); status != Status::ok) return status;
    if (const Status status = map(options, why); status != Status::ok) return status;
    write_header();
    // A stream is listed already.
    if (stream_.is_open())
        stream_.note_mapped(block().size, 0);
    else
        list(options);
    return Status::ok;
}

bool LiveImage::has_placed(std::string_view name) const noexcept {
    return std::ranges::any_of(placed(), [&](const Segment& each) { return each.name() == name; });
}

Expected<Segment> LiveImage::segment(std::string_view name) const noexcept {
    for (const Segment& segment : segments())
        if (segment.name() == name) return segment;
    return Status::not_found;
}

const Segment* LiveImage::segment_at(std::uint64_t offset) const noexcept {
    for (const Segment& segment : segments())
        if (offset >= segment.offset && offset - segment.offset < segment.bytes) return &segment;
    return nullptr;
}

Status LiveImage::place(std::span<const SegmentOptions> options, RingRefusal& why) noexcept {
    using detail::refuse;
    if (options.empty()) return refuse(why, Status::zero_size, RingFault::no_segments);
    if (options.size() > kMaxSegments)
        return refuse(why, Status::capacity_exhausted, RingFault::too_many_segments, {}, options.size(),
                      kMaxSegments);
    // The header has the first granule for itself.
    std::uint64_t end = kSegmentAlignment;
    // Where portable ones are does not depend on the others.
    for (const SegmentKind kind : {SegmentKind::portable, SegmentKind::process_bound}) {
        for (const bool placed : {true, false}) {
            for (const SegmentOptions& each : options) {
                if ((each.offset != 0) != placed || each.kind != kind) continue;
                if (const Status status = place_one(each, end, why); status != Status::ok) return status;
            }
        }
    }
    for (const SegmentOptions& each : options)
        if (!has_placed(each.name))
            return refuse(why, Status::bad_argument, RingFault::segment_kind, each.name);
    std::ranges::sort(segments_.begin(), segments_.begin() + static_cast<std::ptrdiff_t>(count_), {},
                      &Segment::offset);
    return check_overlaps(why);
}

Status LiveImage::check_overlaps(RingRefusal& why) const noexcept {
    for (std::size_t index = 1; index < count_; ++index) {
        const Segment& before = segments_[index - 1];
        const Segment& own = segments_[index];
        if (before.offset + before.bytes <= own.offset) continue;
        why.other_text = before.name_text;
        return detail::refuse(why, Status::address_in_use, RingFault::segments_overlap, own.name(),
                              own.offset, before.offset + before.bytes);
    }
    return Status::ok;
}

Status LiveImage::place_one(const SegmentOptions& options, std::uint64_t& end, RingRefusal& why) noexcept {
    const auto refuse = [&](Status status, RingFault fault, std::uint64_t value = 0,
                            std::uint64_t bound = 0) {
        return detail::refuse(why, status, fault, options.name, value, bound);
    };
    if (options.name.empty() || options.name.size() >= kSegmentNameBytes)
        return refuse(Status::bad_argument, RingFault::segment_name, options.name.size(),
                      kSegmentNameBytes - 1);
    if (has_placed(options.name)) return refuse(Status::bad_argument, RingFault::segment_name_twice);
    if (options.bytes == 0) return refuse(Status::zero_size, RingFault::segment_empty);
    const std::uint64_t begin = options.offset != 0 ? options.offset : end;
    if (options.bytes > kMaxBytes || begin > kMaxBytes - options.bytes)
        return refuse(Status::size_overflow, RingFault::image_too_large,
                      begin > UINT64_MAX - options.bytes ? UINT64_MAX : begin + options.bytes, kMaxBytes);
    if (options.offset % kSegmentAlignment != 0)
        return refuse(Status::bad_alignment, RingFault::segment_place, options.offset, kSegmentAlignment);
    if (options.fine && options.tracking != Tracking::declared)
        return refuse(Status::bad_argument, RingFault::fine_not_declared);
    Segment& made = segments_[count_];
    std::ranges::copy(options.name, made.name_text.begin());
    made.kind = options.kind;
    made.tracking = options.tracking;
    made.fine = options.fine;
    made.offset = begin;
    made.bytes = units_of(options.bytes, std::uint64_t{kSegmentAlignment}) * kSegmentAlignment;
    end = std::max(end, made.offset + made.bytes);
    ++count_;
    return Status::ok;
}

Status LiveImage::choose_tracking(RingRefusal& why) noexcept {
    const os::Capabilities capabilities = os::query_capabilities();
    const os::TrackerChoice choice = os::choose_tracker(capabilities);
    for (Segment& segment : std::span(segments_).first(count_)) {
        segment.reason = "asked for";
        if (segment.tracking == Tracking::automatic) {
            segment.tracking = tracking_of(choice.kind);
            segment.reason = choice.reason;
        }
        if (!is_offered(segment.tracking, capabilities))
            return detail::refuse(why, Status::not_supported, RingFault::tracking_not_offered,
                                  segment.name());
    }
    return Status::ok;
}

void LiveImage::list(const LiveImageOptions& options) noexcept {
    listing_ = BlockRegistration({.name = options.name,
                                  .tag = tag_or(options.tag, kStateTagName),
                                  .base = block().data,
                                  .reserved_bytes = block().size,
                                  .committed_bytes = block().size});
}

void LiveImage::note_use(std::size_t bytes) noexcept {
    if (stream_.is_open())
        stream_.note_use(bytes);
    else
        listing_.update_silently(block().size, bytes);
}

Status LiveImage::map(const LiveImageOptions& options, RingRefusal& why) noexcept {
    if (options.table != nullptr && options.address != nullptr)
        return detail::refuse(why, Status::bad_argument, RingFault::table_and_address);
    const auto bytes = total_bytes();
    const auto refuse = [&](Status status) {
        const Segment& last = segments_[count_ - 1];
        return detail::refuse(why, status, RingFault::image_memory, {}, last.offset + last.bytes);
    };
    if (!bytes) return refuse(bytes.status());
    const auto place = take_addresses(options, *bytes);
    if (!place) return refuse(place.status());
    Status status = map_twice(*place);
    if (status == Status::not_supported)
        status = map_plainly(*place);
    else if (status != Status::ok && stream_.is_open())
        status = stream_.refuse(status, *bytes);
    return status == Status::ok ? status : refuse(status);
}

Status LiveImage::map_twice(MemoryBlock place) noexcept {
    auto object = os::MemoryObject::create(place.size, "ouro-state");
    if (!object) return object.status();
    auto live = object->map({.bytes = place.size, .within = place});
    if (!live) return live.status();
    auto alias = object->map({.bytes = place.size});
    if (!alias) return alias.status();
    object_ = *std::move(object);
    live_mapping_ = *std::move(live);
    alias_mapping_ = *std::move(alias);
    block_ = live_mapping_.block();
    alias_ = alias_mapping_.block();
    return Status::ok;
}

// What a machine can address may be less than what offsets reach.
Expected<std::size_t> LiveImage::total_bytes() const noexcept {
    const Segment& last = segments_[count_ - 1];
    const std::uint64_t bytes = last.offset + last.bytes;
    if (bytes > SIZE_MAX) return Status::size_overflow;
    return static_cast<std::size_t>(bytes);
}

Expected<MemoryBlock> LiveImage::take_addresses(const LiveImageOptions& options, std::size_t bytes) noexcept {
    if (options.table != nullptr) {
        auto stream = options.table->open_stream({.name = options.name,
                                                  .tag = tag_or(options.tag, kStateTagName),
                                                  .reserve_bytes = bytes,
                                                  .alignment = kSegmentAlignment});
        if (!stream) return stream.status();
        stream_ = *std::move(stream);
        return stream_.range().sub(0, bytes);
    }
    auto plain =
        os::Reservation::create({.bytes = bytes, .alignment = kSegmentAlignment, .address = options.address});
    if (!plain) return plain.status();
    plain_ = *std::move(plain);
    return plain_.block().sub(0, bytes);
}

// Where memory has one place only.
Status LiveImage::map_plainly(MemoryBlock place) noexcept {
    const auto done = stream_.is_open() ? stream_.grow(place.size) : plain_.commit(0, place.size);
    if (!done) return done.status();
    block_ = place;
    alias_ = place;
    return Status::ok;
}

void LiveImage::write_header() noexcept {
    expect_made();
    ImageHeader header{};
    header.magic = ImageHeader::kMagic;
    header.version = ImageHeader::kVersion;
    header.page_bytes = kStatePageBytes;
    for (const Segment& segment : segments()) {
        if (segment.kind != SegmentKind::portable) continue;
        ImageHeader::Part& part = header.parts[header.part_count++];
        part = {.name = segment.name_text, .offset = segment.offset, .bytes = segment.bytes};
    }
    header.layout_hash = header.hash_of_parts();
    std::memcpy(alias_.data, &header, sizeof(header));
}

}  // namespace ouro
