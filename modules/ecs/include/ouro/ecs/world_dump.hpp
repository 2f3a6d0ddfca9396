#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/ecs/world_reader.hpp>
#include <ouro/observe/byte_sink.hpp>
#include <ouro/streams/state_ring.hpp>

#include <cstdint>
#include <span>

// A world for people and for programs: of now, of a past tick, of a file, of another process. `ouro dump`
// shows these for files and processes; a program can write its own, at any tick:
//
//     const auto view = ring.view(tick);
//     write_world_text(*WorldReader::open(*view), sink, {.entity = ada});
namespace ouro {

struct WorldDumpOptions {
    // Shows this one with its fields too.
    Entity entity = {};
    // False: nothing but this entity.
    bool is_whole = true;
    // How many free slots are listed.
    std::uint32_t free_slots = 16;
    // Each column with its blocks: how full, where, and when it was changed last.
    bool columns = true;
};

// Components and their fields, archetypes with their columns and how full they are, free slots. All of them
// fail with corrupt_data, and stale_handle when there is no such entity; what came before was written.
Status write_world_text(const WorldReader& reader, const ByteSink& sink,
                        const WorldDumpOptions& options = {}) noexcept;
// One JSON object; its fields are described in docs/ecs-tools.md.
Status write_world_json(const WorldReader& reader, const ByteSink& sink,
                        const WorldDumpOptions& options = {}) noexcept;

// How often pages changed, for a drawing.
struct PageHeat {
    // Of each page of the image, in how many of `ticks`; empty: as the columns themselves say.
    std::span<const std::uint32_t> counts = {};
    std::uint32_t ticks = 0;
};
// Adds one for each page that changed from a tick to the next. Fails as StateRing::view does; out_of_range
// when there is not room for all pages.
Status count_page_changes(const StateRing& ring, Tick from, Tick to,
                          std::span<std::uint32_t> counts) noexcept;

// An SVG drawing: the pages of the segment and whose they are, the columns of the archetypes and how full
// they are, and how often both are written. Fails with corrupt_data, and as os::reserve does.
Status write_world_svg(const WorldReader& reader, const ByteSink& sink, const PageHeat& heat = {}) noexcept;

}  // namespace ouro
