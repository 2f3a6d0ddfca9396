#include "export_writer.hpp"
#include "frame_names.hpp"

#include <ouro/memory/tag.hpp>

#include <algorithm>
#include <array>

namespace ouro {
namespace {

using detail::ExportWriter;
using detail::FrameNamer;

constexpr std::string_view kBeyondTheTable = "(sites beyond the table)";

std::uint64_t bytes_by(const SiteProfile& site, SiteOrder order) noexcept {
    switch (order) {
        case SiteOrder::live:
            return site.live.bytes;
        case SiteOrder::allocated:
            return site.allocated.bytes;
        case SiteOrder::temporary:
            return site.temporary.bytes;
        case SiteOrder::growth:
            return static_cast<std::uint64_t>(std::max<std::int64_t>(site.growth_bytes, 0));
        case SiteOrder::peak:
            return site.peak_bytes;
    }
    return 0;
}

// What separates frames and lines must not be in a name.
void add_frame(ExportWriter& writer, std::string_view name) noexcept {
    for (const char character : name) {
        const bool is_taken = character == ';' || static_cast<unsigned char>(character) < ' ';
        writer.add(is_taken ? ':' : character);
    }
}

void add_tags(ExportWriter& writer, Tag tag) noexcept {
    const Tag parent = tag_parent(tag);
    if (!parent.is_untagged()) {
        add_tags(writer, parent);
        writer.add(';');
    }
    writer.add('[');
    add_frame(writer, tag_name(tag));
    writer.add(']');
}

void add_line(ExportWriter& writer, const SiteProfile& site, std::uint64_t bytes,
              FrameNamer& namer) noexcept {
    add_tags(writer, site.tag);
    if (site.number == 0) writer.add(';').add(kBeyondTheTable);
    const auto stack = site.stack();
    for (std::size_t depth = stack.size(); depth-- != 0;) {
        writer.add(';');
        add_frame(writer, namer.name(detail::call_of(stack[depth])));
    }
    writer.add(' ').add_number(bytes).add('\n');
}

std::string_view name_of(SiteOrder order) noexcept {
    switch (order) {
        case SiteOrder::live:
            return "live";
        case SiteOrder::allocated:
            return "allocated";
        case SiteOrder::temporary:
            return "temporary";
        case SiteOrder::growth:
            return "growth";
        case SiteOrder::peak:
            return "peak";
    }
    return "";
}

void add_amount(ExportWriter& writer, std::string_view name, const ProfileAmount& amount) noexcept {
    writer.add(name).add(' ').add_number(amount.bytes).add(" B in ").add_number(amount.blocks).add(", ");
}

void add_site(ExportWriter& writer, const SiteProfile& site, FrameNamer& namer) noexcept {
    add_amount(writer, "live", site.live);
    add_amount(writer, "allocated", site.allocated);
    add_amount(writer, "temporary", site.temporary);
    writer.add("growth ").add_signed(site.growth_bytes).add(" B, peak ").add_number(site.peak_bytes);
    writer.add(" B; ").add_number(site.samples).add(" samples\n    ");
    add_tags(writer, site.tag);
    if (site.number == 0) writer.add(' ').add(kBeyondTheTable);
    writer.add('\n');
    for (const std::uint64_t frame : site.stack())
        writer.add("    ").add(namer.name(detail::call_of(frame))).add('\n');
}

}  // namespace

void write_folded_stacks(const ByteSink& sink, SiteOrder what, const FrameNames& names) noexcept {
    const detail::ModuleTable modules;
    FrameNamer namer(names, modules);
    ExportWriter writer(sink);
    const std::size_t count = site_count();
    for (std::size_t number = 0; number < count; ++number) {
        const SiteProfile site = read_site(number);
        if (const std::uint64_t bytes = bytes_by(site, what); bytes != 0)
            add_line(writer, site, bytes, namer);
    }
}

void write_top_sites(const ByteSink& sink, SiteOrder order, std::size_t count,
                     const FrameNames& names) noexcept {
    std::array<SiteProfile, kMostReportedSites> sites;
    const auto top = top_sites(order, std::span(sites).first(std::min(count, sites.size())));
    const ProfilerState state = profiler_state();
    const detail::ModuleTable modules;
    FrameNamer namer(names, modules);
    ExportWriter writer(sink);
    writer.add("top sites by ").add(name_of(order)).add(" bytes, estimated from ");
    writer.add_number(state.samples).add(" samples");
    if (state.dropped_sites + state.dropped_blocks != 0) {
        writer.add("; no room for ").add_number(state.dropped_sites).add(" sites and ");
        writer.add_number(state.dropped_blocks).add(" blocks");
    }
    writer.add('\n');
    for (std::size_t rank = 0; rank < top.size(); ++rank) {
        writer.add_number(rank + 1).add(". ");
        add_site(writer, top[rank], namer);
    }
}

}  // namespace ouro
