#include "page_owners.hpp"
#include "sink_text.hpp"

#include <ouro/ecs/world_dump.hpp>

#include <algorithm>
#include <array>

namespace ouro {
namespace {

using detail::PageOwner;
using detail::PageOwners;
using detail::SinkText;

constexpr std::uint32_t kWidth = 960;
constexpr std::uint32_t kMargin = 24;
constexpr std::uint32_t kMapTop = 118;
constexpr std::uint32_t kMostCells = 3'000;
constexpr std::uint32_t kLine = 18;
constexpr std::uint32_t kBarLeft = 200;
constexpr std::uint32_t kBarWidth = 560;
constexpr std::uint32_t kMostArchetypes = 40;

struct OwnerLook {
    std::string_view name;
    std::string_view colour;
};
constexpr std::array<OwnerLook, 6> kOwners = {{{"not used", "#d9d4c8"},
                                               {"records", "#7d8a97"},
                                               {"entity slots", "#3f6fb0"},
                                               {"cold columns", "#2a9d8f"},
                                               {"warm columns", "#b58900"},
                                               {"hot columns", "#b0483f"}}};

class Drawing {
public:
    Drawing(const WorldReader& reader, const ByteSink& sink, const PageOwners& pages,
            const PageHeat& heat) noexcept
        : reader_(reader), out_(sink), pages_(pages), heat_(heat) {}

    Status write() noexcept {
        group_ = (pages_.page_count() + kMostCells - 1) / kMostCells;
        group_ = std::max(group_, 1U);
        const std::uint32_t cells = (pages_.page_count() + group_ - 1) / group_;
        cell_ = cells <= 400 ? 20 : cells <= 1'000 ? 14 : 10;
        cells_a_row_ = (kWidth - 2 * kMargin) / cell_;
        const std::uint32_t map_rows = (cells + cells_a_row_ - 1) / cells_a_row_;
        std::uint32_t lines = 0;
        if (const Status status = measure(lines); status != Status::ok) return status;
        const std::uint32_t height = kMapTop + map_rows * cell_ + lines * kLine + 2 * kMargin;
        out_.add("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"").number(kWidth).add("\" height=\"");
        out_.number(height).add("\" viewBox=\"0 0 ").number(kWidth).add(" ").number(height);
        out_.add("\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#333\">\n");
        out_.add("<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");
        write_title();
        write_legend();
        y_ = kMapTop;
        write_map(cells);
        y_ += map_rows * cell_ + kMargin;
        const Status status = write_archetypes();
        out_.add("</svg>\n");
        return status;
    }

private:
    SinkText& text_at(std::uint32_t x, std::uint32_t y, std::string_view more = {}) noexcept {
        return out_.add("<text x=\"").number(x).add("\" y=\"").number(y).add("\"").add(more).add(">");
    }
    SinkText& rectangle(std::uint32_t x, std::uint32_t y, std::uint32_t width,
                        std::uint32_t height) noexcept {
        out_.add("<rect x=\"").number(x).add("\" y=\"").number(y).add("\" width=\"").number(width);
        return out_.add("\" height=\"").number(height).add("\"");
    }
    // From paper over orange to red.
    SinkText& colour(std::uint32_t heat) noexcept {
        constexpr std::array<std::array<std::uint32_t, 3>, 3> kStops = {
            {{0xf4, 0xf0, 0xe6}, {0xf4, 0xa2, 0x61}, {0xc8, 0x2d, 0x2d}}};
        const std::size_t stop = heat < 128 ? 0 : 1;
        const std::uint32_t within = std::min((heat - static_cast<std::uint32_t>(stop) * 128) * 2, 255U);
        out_.add("rgb(");
        for (std::size_t i = 0; i < 3; ++i) {
            const std::uint32_t value =
                (kStops[stop][i] * (255 - within) + kStops[stop + 1][i] * within) / 255;
            out_.add(i == 0 ? "" : ",").number(value);
        }
        return out_.add(")");
    }

    void write_title() noexcept {
        const WorldHeader& header = reader_.header();
        text_at(kMargin, 34, " font-size=\"18\" font-weight=\"bold\"").escaped(reader_.segment());
        out_.add(", tick ").number(header.tick).add("</text>\n");
        text_at(kMargin, 54).number(header.live_entities).add(" entities in ");
        out_.number(header.archetype_count).add(" archetypes; pages up to the last one used: ");
        out_.number(pages_.page_count()).add(" of ").number(reader_.segment_bytes() >> kStatePageShift);
        if (group_ != 1) out_.add(", ").number(group_).add(" a square");
        out_.add("</text>\n");
    }

    void write_legend() noexcept {
        std::uint32_t x = kMargin;
        for (const OwnerLook& owner : kOwners) {
            rectangle(x, 68, 9, 9).add(" fill=\"none\" stroke-width=\"2\" stroke=\"").add(owner.colour);
            out_.add("\"/>\n");
            text_at(x + 15, 77).add(owner.name).add("</text>\n");
            x += 110;
        }
        constexpr std::uint32_t kSteps = 24;
        for (std::uint32_t step = 0; step < kSteps; ++step) {
            rectangle(kMargin + step * 6, 90, 6, 10).add(" fill=\"");
            colour(step * 255 / (kSteps - 1)).add("\"/>\n");
        }
        text_at(kMargin + kSteps * 6 + 8, 99);
        if (heat_.ticks != 0)
            out_.add("written in none to all of ").number(heat_.ticks).add(" ticks");
        else
            out_.add("last written long ago to just now");
        out_.add("</text>\n");
    }

    void write_map(std::uint32_t cells) noexcept {
        for (std::uint32_t cell = 0; cell < cells; ++cell) {
            PageOwner owner = PageOwner::nobody;
            std::uint32_t heat = 0;
            const std::uint32_t end = std::min((cell + 1) * group_, pages_.page_count());
            for (std::uint32_t page = cell * group_; page < end; ++page) {
                owner = std::max(owner, pages_.owner(page));
                heat = std::max(heat, pages_.heat(page));
            }
            rectangle(kMargin + cell % cells_a_row_ * cell_, y_ + cell / cells_a_row_ * cell_, cell_ - 3,
                      cell_ - 3);
            out_.add(" fill=\"");
            (owner == PageOwner::nobody ? out_.add("#fff") : colour(heat)).add("\" stroke=\"");
            out_.add(kOwners[static_cast<std::size_t>(owner)].colour);
            out_.add("\"/>\n");
        }
    }

    // How many lines the archetypes take, and how long their longest column is.
    Status measure(std::uint32_t& lines) noexcept {
        for (std::uint32_t number = 0; number < reader_.header().archetype_count; ++number) {
            const auto archetype = reader_.archetype(number);
            if (!archetype) return archetype.status();
            if (archetype->row_count == 0) continue;
            if (++shown_ <= kMostArchetypes) lines += archetype->column_count + 2U;
            for (std::uint32_t i = 0; i < archetype->column_count; ++i) {
                const auto shape = reader_.column(*archetype, i);
                if (!shape) return shape.status();
                longest_ = std::max(longest_,
                                    std::uint64_t{first_row_of_block(archetype->block_count)} * shape->bytes);
            }
        }
        if (shown_ > kMostArchetypes) ++lines;
        return Status::ok;
    }

    Status write_archetypes() noexcept {
        std::uint32_t shown = 0;
        for (std::uint32_t number = 0; number < reader_.header().archetype_count; ++number) {
            const auto archetype = reader_.archetype(number);
            if (!archetype) return archetype.status();
            if (archetype->row_count == 0 || ++shown > kMostArchetypes) continue;
            const std::uint64_t room = first_row_of_block(archetype->block_count);
            y_ += kLine;
            text_at(kMargin, y_, " font-weight=\"bold\"").add("archetype ").number(number).add("</text>\n");
            text_at(kBarLeft, y_)
                .number(archetype->row_count)
                .add(archetype->row_count == 1 ? " row, " : " rows, ");
            out_.number(archetype->row_count * 100ULL / room).add("% of ").number(room);
            if (const Status status = write_tags(archetype->mask); status != Status::ok) return status;
            out_.add("</text>\n");
            for (std::uint32_t i = 0; i < archetype->column_count; ++i) {
                y_ += kLine;
                if (const Status status = write_column(*archetype, i); status != Status::ok) return status;
            }
            y_ += kLine;
        }
        if (shown > kMostArchetypes)
            text_at(kMargin, y_).add("and ").number(shown - kMostArchetypes).add(" more</text>\n");
        return Status::ok;
    }

    Status write_tags(const ComponentMask& mask) noexcept {
        Status status = Status::ok;
        mask.each([&](ComponentId id) {
            const auto record = reader_.component(id);
            if (!record) status = record.status();
            if (record && record->kind == ComponentKind::tag) out_.add(", ").escaped(record->name.view());
        });
        return status;
    }

    Status write_column(const ArchetypeRecord& archetype, std::uint32_t number) noexcept {
        const auto shape = reader_.column(archetype, number);
        if (!shape) return shape.status();
        const auto component = reader_.component(shape->component);
        if (!component) return component.status();
        text_at(kMargin + 12, y_).escaped(component->name.view().substr(0, 24)).add("</text>\n");
        std::uint32_t x = kBarLeft;
        std::uint32_t left = archetype.row_count;
        for (std::uint32_t block = 0; block < archetype.block_count; ++block) {
            const auto own = reader_.block_column(archetype, block, number);
            if (!own) return own.status();
            const std::uint32_t rows = rows_of_block(block);
            const std::uint64_t bytes = std::uint64_t{rows} * shape->bytes;
            const auto scaled =
                static_cast<std::uint32_t>(bytes * kBarWidth / std::max<std::uint64_t>(longest_, 1));
            const std::uint32_t width = std::max(scaled, 4U);
            const std::uint32_t used = std::min(left, rows);
            left -= used;
            rectangle(x, y_ - 11, width, 13).add(" fill=\"#fff\" stroke=\"#c9c3b5\"/>\n");
            if (used == 0) {
                x += width + 2;
                continue;
            }
            const auto filled = std::max(static_cast<std::uint32_t>(std::uint64_t{width} * used / rows), 1U);
            rectangle(x, y_ - 11, filled, 13).add(" fill=\"");
            const std::uint64_t written = std::max<std::uint64_t>(std::uint64_t{used} * shape->bytes, 1);
            colour(pages_.heat_of(own->data, written)).add("\" stroke=\"");
            out_.add(
                kOwners[static_cast<std::size_t>(PageOwner::hot) - static_cast<std::size_t>(component->heat)]
                    .colour);
            out_.add("\"/>\n");
            x += width + 2;
        }
        text_at(x + 6, y_, " fill=\"#777\"").bytes(std::uint64_t{archetype.row_count} * shape->bytes);
        out_.add("</text>\n");
        return Status::ok;
    }

    const WorldReader& reader_;
    SinkText out_;
    const PageOwners& pages_;
    const PageHeat& heat_;
    // Pages a square, its size, and how many are in a row.
    std::uint32_t group_ = 1;
    std::uint32_t cell_ = 10;
    std::uint32_t cells_a_row_ = 1;
    std::uint32_t y_ = 0;
    std::uint32_t shown_ = 0;
    std::uint64_t longest_ = 0;
};

}  // namespace

Status count_page_changes(const StateRing& ring, Tick from, Tick to,
                          std::span<std::uint32_t> counts) noexcept {
    if (counts.size() < ring.image().size >> kStatePageShift) return Status::out_of_range;
    for (Tick tick = from; tick < to; ++tick) {
        std::uint64_t next = 0;
        const Status status = ring.changed(tick, tick + 1, [&](ChangedRange range) {
            const std::uint64_t last = (range.offset + range.bytes - 1) >> kStatePageShift;
            for (std::uint64_t page = std::max(next, range.offset >> kStatePageShift); page <= last; ++page)
                ++counts[static_cast<std::size_t>(page)];
            next = std::max(next, last + 1);
        });
        if (status != Status::ok) return status;
    }
    return Status::ok;
}

Status write_world_svg(const WorldReader& reader, const ByteSink& sink, const PageHeat& heat) noexcept {
    const auto pages = PageOwners::find(reader, heat);
    if (!pages) return pages.status();
    return Drawing(reader, sink, *pages, heat).write();
}

}  // namespace ouro
