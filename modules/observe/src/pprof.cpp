// profile.proto by hand: a message is a row of fields, each a key and a number or bytes with their length.
#include "export_writer.hpp"
#include "frame_names.hpp"

#include <ouro/memory/tag.hpp>
#include <ouro/os/clock.hpp>
#include <ouro/os/code_mappings.hpp>

#include <algorithm>
#include <array>
#include <span>

namespace ouro {
namespace {

using detail::call_of;
using detail::ExportWriter;
using detail::FrameNamer;
using detail::kMaxSiteFrames;
using detail::ModuleTable;

// Numbers of fields, as the format's definition has them.
enum class ProfileField : unsigned {
    sample_type = 1,
    sample = 2,
    mapping = 3,
    location = 4,
    function = 5,
    string_table = 6,
    duration_nanos = 10,
    period_type = 11,
    period = 12,
    default_sample_type = 14,
};

// A message that is complete before it is written, for its length comes first. Large enough for a sample of
// the deepest stack.
class Message {
public:
    // A zero is what a reader takes for a field that is missing.
    Message& add(unsigned field, std::uint64_t value) noexcept {
        if (value == 0) return *this;
        add_varint(std::uint64_t{field} << 3);
        add_varint(value);
        return *this;
    }
    Message& add(unsigned field, const Message& part) noexcept {
        add_varint(std::uint64_t{field} << 3 | 2);
        add_varint(part.length_);
        std::copy_n(part.bytes_.data(), part.length_, bytes_.data() + length_);
        length_ += part.length_;
        return *this;
    }
    Message& add_packed(unsigned field, std::span<const std::uint64_t> values) noexcept {
        Message part;
        for (const std::uint64_t value : values)
            part.add_varint(value);
        return values.empty() ? *this : add(field, part);
    }
    void add_varint(std::uint64_t value) noexcept {
        for (; value >= 0x80; value >>= 7)
            bytes_[length_++] = static_cast<char>(value | 0x80);
        bytes_[length_++] = static_cast<char>(value);
    }
    [[nodiscard]] std::string_view bytes() const noexcept { return {bytes_.data(), length_}; }

private:
    std::array<char, 448> bytes_;
    std::size_t length_ = 0;
};

class ProfileWriter {
public:
    explicit ProfileWriter(const ByteSink& sink) noexcept : writer_(sink) {}

    void add(ProfileField field, std::uint64_t value) noexcept {
        writer_.add(Message().add(static_cast<unsigned>(field), value).bytes());
    }
    void add(ProfileField field, std::string_view bytes) noexcept {
        Message head;
        head.add_varint(static_cast<unsigned>(field) << 3 | 2);
        head.add_varint(bytes.size());
        writer_.add(head.bytes()).add(bytes);
    }
    void add(ProfileField field, const Message& message) noexcept { add(field, message.bytes()); }

    // Its number, by which others mean it.
    std::uint64_t add_string(std::string_view text) noexcept {
        add(ProfileField::string_table, text);
        return strings_++;
    }

private:
    ExportWriter writer_;
    std::uint64_t strings_ = 0;
};

std::uint64_t location_of(std::size_t site, std::size_t depth) noexcept {
    return site * kMaxSiteFrames + depth + 1;
}

void add_sample_types(ProfileWriter& profile) noexcept {
    profile.add_string("");
    const std::uint64_t count = profile.add_string("count");
    const std::uint64_t bytes = profile.add_string("bytes");
    const auto add_type = [&](std::string_view name, std::uint64_t unit) noexcept {
        const std::uint64_t type = profile.add_string(name);
        profile.add(ProfileField::sample_type, Message().add(1, type).add(2, unit));
        return type;
    };
    add_type("inuse_objects", count);
    const std::uint64_t shown_first = add_type("inuse_space", bytes);
    add_type("alloc_objects", count);
    add_type("alloc_space", bytes);
    profile.add(ProfileField::default_sample_type, shown_first);
    profile.add(ProfileField::period_type, Message().add(1, profile.add_string("space")).add(2, bytes));
}

void add_times(ProfileWriter& profile) noexcept {
    const ProfilerState state = profiler_state();
    const std::uint64_t end = state.stopped_ns != 0 ? state.stopped_ns : os::monotonic_ns();
    if (state.started_ns != 0) profile.add(ProfileField::duration_nanos, end - state.started_ns);
    profile.add(ProfileField::period, state.mean_bytes);
}

// The same in the same order as a ModuleTable has them.
void add_mappings(ProfileWriter& profile) noexcept {
    struct Visit {
        ProfileWriter& profile;
        std::uint64_t number = 0;
    } visit{profile};
    static_cast<void>(os::for_each_code_mapping(
        [](const os::CodeMapping& mapping, void* context) {
            auto& [writer, number] = *static_cast<Visit*>(context);
            if (number == ModuleTable::kMostModules) return false;
            const std::uint64_t path = writer.add_string(mapping.path);
            Message message;
            message.add(1, ++number).add(2, mapping.begin).add(3, mapping.end).add(4, mapping.file_offset);
            writer.add(ProfileField::mapping, message.add(5, path));
            return true;
        },
        &visit));
}

void add_sample(ProfileWriter& profile, const SiteProfile& site, std::uint64_t key,
                std::uint64_t tag) noexcept {
    std::array<std::uint64_t, kMaxSiteFrames> locations;
    for (std::size_t depth = 0; depth < site.frame_count; ++depth)
        locations[depth] = location_of(site.number, depth);
    const std::array values{site.live.blocks, site.live.bytes, site.allocated.blocks, site.allocated.bytes};
    Message message;
    message.add_packed(1, std::span(locations).first(site.frame_count)).add_packed(2, values);
    message.add(3, Message().add(1, key).add(2, tag));
    profile.add(ProfileField::sample, message);
}

// Each frame of each site is a place of its own; readers join those with one address.
void add_locations(ProfileWriter& profile, const SiteProfile& site, FrameNamer& namer,
                   const ModuleTable& modules) noexcept {
    for (std::size_t depth = 0; depth < site.frame_count; ++depth) {
        const std::uint64_t address = call_of(site.frames[depth]);
        const std::uint64_t id = location_of(site.number, depth);
        const std::uint64_t name = profile.add_string(namer.name(address));
        profile.add(ProfileField::function, Message().add(1, id).add(2, name).add(3, name));
        Message location;
        location.add(1, id).add(2, modules.number_of(modules.find(address))).add(3, address);
        profile.add(ProfileField::location, location.add(4, Message().add(1, id)));
    }
}

}  // namespace

void write_pprof(const ByteSink& sink, const FrameNames& names) noexcept {
    const ModuleTable modules;
    FrameNamer namer(names, modules);
    ProfileWriter profile(sink);
    add_sample_types(profile);
    add_times(profile);
    add_mappings(profile);
    const std::uint64_t key = profile.add_string("tag");
    const std::size_t tags = tag_count();
    std::uint64_t first_tag = 0;
    for (std::size_t id = 0; id < tags; ++id) {
        const std::uint64_t string =
            profile.add_string(tag_name(Tag::from_id(static_cast<std::uint16_t>(id))));
        if (id == 0) first_tag = string;
    }
    const std::size_t count = site_count();
    for (std::size_t number = 0; number < count; ++number) {
        const SiteProfile site = read_site(number);
        if (site.samples == 0 || site.tag.id() >= tags) continue;
        add_sample(profile, site, key, first_tag + site.tag.id());
        add_locations(profile, site, namer, modules);
    }
}

}  // namespace ouro
