#include "dump_command.hpp"

#include "image_reader.hpp"
#include "world_images.hpp"

#include <ouro/ecs/names.hpp>
#include <ouro/ecs/world_diff.hpp>
#include <ouro/ecs/world_dump.hpp>
#include <ouro/ecs/world_text.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <fstream>
#include <memory>
#include <optional>
#include <ostream>
#include <string_view>
#include <thread>

namespace ouro {
namespace {

constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;

constexpr std::string_view kWhatToGive =
    "give the file of an image that the program saved with ouro::save_world(world, path), or the number of a "
    "running process, as `ps` or `pgrep <name>` tells it: ouro dump <file or number>";

template <class Number>
std::optional<Number> number_in(std::string_view text) {
    Number number = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
    if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size()) return std::nullopt;
    return number;
}

std::unique_ptr<WorldImage> open_target(const std::string& target) {
    const auto process_id = number_in<std::uint32_t>(target);
    return process_id ? open_process_image(*process_id) : open_saved_image(target);
}

ByteSink sink_of(std::ostream& out) {
    return {.write =
                [](void* context, std::string_view bytes) {
                    static_cast<std::ostream*>(context)->write(bytes.data(),
                                                               static_cast<std::streamsize>(bytes.size()));
                },
            .context = &out};
}

void expect_ok(Status status, const std::string& source) {
    if (status == Status::ok) return;
    if (status == Status::corrupt_data)
        throw ReportError("the world in " + source +
                          " does not fit together: it is damaged, or was written meanwhile. Try again");
    throw ReportError("the world in " + source + " cannot be read: " + std::string(status_text(status)));
}

WorldReader reader_of(const WorldImage& image, const std::string& segment) {
    LayoutFound layout;
    const auto reader = WorldReader::open(image.bytes(), segment, &layout);
    if (reader.status() == Status::wrong_layout ||
        (reader.status() == Status::wrong_format && layout.version != 0)) {
        std::array<char, 160> text;
        throw ReportError("the world in " + image.source() + " " +
                          std::string(describe_layout(layout, text)) +
                          ". Use the `ouro` that was built with the program");
    }
    if (reader.status() == Status::not_found)
        throw ReportError(image.source() + " holds no world" +
                          (segment.empty() ? "" : " in a segment '" + segment + "'"));
    if (!reader) expect_ok(reader.status(), image.source());
    return *reader;
}

// The one that the program gave this name; null when there is none.
Entity entity_called(const std::string& name, const WorldReader& reader) {
    const auto id = reader.find_component(component_name<Name>());
    const auto component = id ? reader.component(*id) : Expected<ComponentRecord>(id.status());
    const auto names = component ? reader.sparse(*component) : Expected<SparseTable>(component.status());
    if (!names) return {};
    for (std::uint32_t row = 0; row < names->rows.row_count; ++row) {
        Entity owner;
        Name own;
        const auto owner_at = reader.cell_offset(names->rows, row, 0);
        const auto name_at = reader.cell_offset(names->rows, row, 1);
        if (!owner_at || !name_at) break;
        if (reader.read(*owner_at, std::as_writable_bytes(std::span(&owner, 1))) != Status::ok) break;
        if (reader.read(*name_at, std::as_writable_bytes(std::span(&own, 1))) != Status::ok) break;
        if (own.text.view() == name) return owner;
    }
    return {};
}

// Null when there is none. Requires: a name that entity_named accepts.
Entity find_entity(const std::string& name, const WorldReader& reader) {
    const std::string_view text = name;
    const std::size_t colon = text.find(':');
    const auto slot = number_in<std::uint32_t>(text.substr(0, colon));
    if (!slot) return entity_called(name, reader);
    const auto occupant = reader.entity_in(*slot);
    if (!occupant || occupant->is_null() || colon == text.npos) return occupant.value_or(Entity{});
    const auto generation = number_in<std::uint16_t>(text.substr(colon + 1));
    return generation && occupant->generation() == *generation ? *occupant : Entity{};
}

Entity entity_named(const std::string& name, const WorldReader& reader) {
    if (const Entity found = find_entity(name, reader); !found.is_null()) return found;
    if (!number_in<std::uint32_t>(std::string_view(name).substr(0, name.find(':'))))
        throw ReportError("'" + name +
                          "' is no entity's name: give a name that it got by set_name, its slot, or "
                          "<slot>:<generation>");
    throw ReportError("there is no entity " + name);
}

// A process that goes on is looked at again when what was read does not fit together.
template <class Write>
void with_reader(const DumpRequest& request, const std::string& target, Write&& write) {
    constexpr int kTries = 5;
    for (int attempt = 1;; ++attempt) {
        const auto image = open_target(target);
        const auto reader = WorldReader::open(image->bytes(), request.segment);
        const bool is_torn =
            reader.status() == Status::corrupt_data || (reader && reader->check() != Status::ok);
        if (is_torn && attempt < kTries && number_in<std::uint32_t>(target)) continue;
        const WorldReader sound = reader_of(*image, request.segment);
        write(sound, *image);
        // Shown all the same: whoever looks for the damage wants to see it.
        if (is_torn && !number_in<std::uint32_t>(target))
            throw ReportError(image->source() + " is damaged: what it says does not fit together");
        return;
    }
}

// Which of the targets is of the tick that was asked for; the last one when none was.
std::string target_of_tick(const DumpRequest& request) {
    if (!request.tick) return request.targets.back();
    std::string seen;
    bool has_process = false;
    for (const std::string& target : request.targets) {
        std::uint32_t tick = 0;
        with_reader(request, target,
                    [&](const WorldReader& reader, const WorldImage&) { tick = reader.header().tick; });
        if (tick == *request.tick) return target;
        seen += (seen.empty() ? "" : ", ") + std::to_string(tick);
        has_process |= number_in<std::uint32_t>(target).has_value();
    }
    const std::string wanted = std::to_string(*request.tick);
    if (has_process)
        throw ReportError(
            "the process is in tick " + seen +
            ", and the ticks before are in its own memory, which "
            "nobody else can hold on to. Let the program save them as they end, or the one that it "
            "keeps: ouro::save_world(*world.at(ring_tick), path), then ouro dump <files> --tick " +
            wanted);
    throw ReportError("none of the images is of tick " + wanted + ", but of " + seen +
                      ". A program saves any tick that its ring keeps: "
                      "ouro::save_world(*world.at(ring_tick), path)");
}

void write_dump(const DumpRequest& request, std::ostream& out) {
    with_reader(request, target_of_tick(request), [&](const WorldReader& reader, const WorldImage& image) {
        // A process may have gone on since.
        if (request.tick && reader.header().tick != *request.tick)
            throw ReportError(
                "the process has gone on to tick " + std::to_string(reader.header().tick) +
                ": let the program save the tick, ouro::save_world(*world.at(ring_tick), path)");
        WorldDumpOptions options;
        if (!request.entity.empty()) {
            options.entity = entity_named(request.entity, reader);
            options.is_whole = false;
        }
        const Status status = request.as_json ? write_world_json(reader, sink_of(out), options)
                                              : write_world_text(reader, sink_of(out), options);
        expect_ok(status, image.source());
    });
}

void write_differences(const DumpRequest& request, std::ostream& out) {
    const auto before = open_target(request.against);
    const WorldReader earlier = reader_of(*before, request.segment);
    with_reader(request, target_of_tick(request), [&](const WorldReader& later, const WorldImage& image) {
        std::size_t count = 0;
        // The one that was asked for may have come or gone in between.
        Entity only;
        if (!request.entity.empty()) only = find_entity(request.entity, earlier);
        if (!request.entity.empty() && only.is_null()) only = entity_named(request.entity, later);
        const Status status = diff_worlds(earlier, later, [&](const WorldChange& change) {
            if (!only.is_null() && change.entity != only) return;
            std::array<char, 400> text;
            out << describe_change(change, text) << '\n';
            ++count;
        });
        expect_ok(status, before->source() + " or " + image.source());
        out << count << (count == 1 ? " difference\n" : " differences\n");
    });
}

// Behind the last byte that the world uses: what lies there need not be read, nor be brought into memory.
std::uint64_t used_end(const WorldReader& reader) {
    const WorldHeader& header = reader.header();
    std::uint64_t end = std::max(header.components + kMaxComponents * sizeof(ComponentRecord),
                                 header.entities + header.used_slots * sizeof(EntitySlot));
    end = std::max(end, header.archetypes + header.archetype_count * sizeof(ArchetypeRecord));
    for (std::uint32_t number = 0; number < header.archetype_count; ++number) {
        const auto archetype = reader.archetype(number);
        if (!archetype) continue;
        for (std::uint32_t i = 0; i < archetype->column_count; ++i) {
            const auto shape = reader.column(*archetype, i);
            for (std::uint32_t block = 0; shape && block < archetype->block_count; ++block) {
                const auto own = reader.block_column(*archetype, block, i);
                if (own) end = std::max(end, own->data + std::uint64_t{rows_of_block(block)} * shape->bytes);
            }
        }
    }
    return end;
}

// In how many of several images a page differs from the one before.
class HeatCount {
public:
    void add(const WorldReader& reader) {
        const auto pages = static_cast<std::size_t>((used_end(reader) - 1) >> kStatePageShift) + 1;
        const bool is_first = before_.empty();
        counts_.resize(std::max(counts_.size(), pages));
        before_.resize(std::max(before_.size(), pages * kStatePageBytes));
        std::array<std::byte, kStatePageBytes> page;
        for (auto number = static_cast<std::size_t>(reader.segment_offset() >> kStatePageShift);
             number < pages; ++number) {
            if (reader.read(std::uint64_t{number} << kStatePageShift, page) != Status::ok) continue;
            const auto old = before_.begin() + static_cast<std::ptrdiff_t>(number * kStatePageBytes);
            if (!is_first && !std::ranges::equal(page, std::span(old, page.size()))) ++counts_[number];
            std::ranges::copy(page, old);
        }
        if (!is_first) ++ticks_;
    }
    [[nodiscard]] PageHeat heat() const { return {.counts = counts_, .ticks = ticks_}; }

private:
    std::vector<std::uint32_t> counts_;
    std::vector<std::byte> before_;
    std::uint32_t ticks_ = 0;
};

// Returns what was drawn.
std::string write_drawing(const DumpRequest& request, std::ostream& out) {
    std::string drawn;
    HeatCount heat;
    const bool is_process = number_in<std::uint32_t>(request.targets.back()).has_value();
    std::vector<std::string> looks = request.targets;
    if (is_process) looks.assign(std::max(request.samples, 1U), request.targets.back());
    for (std::size_t i = 0; i + 1 < looks.size(); ++i) {
        with_reader(request, looks[i],
                    [&](const WorldReader& reader, const WorldImage&) { heat.add(reader); });
        if (is_process) std::this_thread::sleep_for(std::chrono::duration<double>(request.interval_seconds));
    }
    with_reader(request, looks.back(), [&](const WorldReader& reader, const WorldImage& image) {
        if (looks.size() > 1) heat.add(reader);
        expect_ok(write_world_svg(reader, sink_of(out), heat.heat()), image.source());
        drawn = image.source() + ", tick " + std::to_string(reader.header().tick);
    });
    return drawn;
}

void write_drawing_to(const DumpRequest& request, std::ostream& out) {
    if (request.svg == "-") {
        write_drawing(request, out);
        return;
    }
    std::ofstream file(request.svg, std::ios::binary);
    const std::string drawn = write_drawing(request, file);
    const auto bytes = file.tellp();
    file.close();
    if (file) {
        out << "wrote '" << request.svg << "', " << bytes << " bytes: a drawing of " << drawn << '\n';
        return;
    }
    throw ReportError("'" + request.svg + "' cannot be written");
}

}  // namespace

int run_dump(const DumpRequest& request, std::ostream& out, std::ostream& errors) {
    if (request.targets.empty()) {
        errors << "ouro dump: " << kWhatToGive << '\n';
        return kWrongUsage;
    }
    if (request.targets.size() > 1 && request.svg.empty() && !request.tick) {
        errors << "ouro dump: one image is shown at a time. Of several, --tick <world tick> chooses one and "
                  "--svg <file> draws what changes; what differs between two tells ouro dump <later> "
                  "--against <earlier>\n";
        return kWrongUsage;
    }
    try {
        if (!request.svg.empty()) {
            write_drawing_to(request, out);
        } else if (!request.against.empty()) {
            write_differences(request, out);
        } else {
            write_dump(request, out);
        }
        return 0;
    } catch (const ReportError& error) {
        errors << "ouro dump: " << error.what() << '\n';
        return kFailed;
    }
}

}  // namespace ouro
