#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/base/fixed_string.hpp>
#include <ouro/ecs/image_layout.hpp>
#include <ouro/ecs/past_world.hpp>
#include <ouro/ecs/world.hpp>
#include <ouro/streams/image_file.hpp>

#include <array>
#include <span>
#include <string_view>

// Worlds as files that outlive a version of the program. The file is a saved image, of which load_world takes
// the world's segment:
//
//     save_world(world, "level.image");
//     ...
//     constexpr std::array kChanges = {renamed_component("Hp", "Health"),
//                                      renamed_field("Health", "hp", "points"), removed_component("Mana")};
//     WorldLoadProblem problem;
//     const auto tick = load_world(world, "level.image", {.changes = kChanges, .problem = &problem});
namespace ouro {

// A difference between the program that saved a world and this one that cannot be seen from the two.
struct SchemaChange {
    enum class Kind : std::uint8_t { component_renamed, component_removed, field_renamed };

    Kind kind = Kind::component_renamed;
    // Of a field: the component it is in, by the name of today.
    std::string_view component = {};
    std::string_view from = {};
    std::string_view to = {};
};

[[nodiscard]] constexpr SchemaChange renamed_component(std::string_view from, std::string_view to) noexcept {
    return {SchemaChange::Kind::component_renamed, {}, from, to};
}
// Entities lose it, as World::remove does. Without this it stays as it is, for who knows it by its name.
[[nodiscard]] constexpr SchemaChange removed_component(std::string_view name) noexcept {
    return {SchemaChange::Kind::component_removed, {}, name, {}};
}
// A field, or a struct or an array with all that is in it.
[[nodiscard]] constexpr SchemaChange renamed_field(std::string_view component, std::string_view from,
                                                   std::string_view to) noexcept {
    return {SchemaChange::Kind::field_renamed, component, from, to};
}

// What stands in the way of loading a world.
struct WorldLoadProblem {
    FixedString<47> component;
    FixedString<47> field;
    // A sentence of which "<component>.<field>" is the beginning; empty when it was nothing of the kind.
    std::string_view reason;
    // How the file is laid out, when that is the reason; then the two above are empty.
    LayoutFound layout;
};
// "Health.points was saved as another kind of value". As much as fits, with a zero at the end.
[[nodiscard]] std::string_view describe_problem(const WorldLoadProblem& problem,
                                                std::span<char> text) noexcept;

struct WorldLoadOptions {
    std::span<const SchemaChange> changes = {};
    // Set when loading fails with wrong_layout, or with wrong_format because the world is of another version.
    WorldLoadProblem* problem = nullptr;
};

// Saves what was committed last, or a past tick; see save_image.
Expected<ImageInfo> save_world(const World& world, const char* path,
                               ImageCodec codec = ImageCodec::words) noexcept;
Expected<ImageInfo> save_world(const PastWorld& past, const char* path,
                               ImageCodec codec = ImageCodec::words) noexcept;
Expected<ImageInfo> write_world(const PastWorld& past, ImageSink sink,
                                ImageCodec codec = ImageCodec::words) noexcept;

// The world becomes what was saved: entities, their names, generations and rows, what is free, changed and
// switched off, and all that lies in the world's heap. What it is now is committed first, so that it can be
// gone back to; what was loaded is committed as the next tick, which is returned. Other segments stay.
//
// Components that this world knows and that were saved with other fields are converted, field by field and by
// name: new fields are zero, those that are no more are dropped, integers and floating point numbers become
// wider, texts and arrays longer; arrays that became shorter lose what is behind. A field that became
// something else or narrower is refused. So register all components before. What the file has and the world
// does not know stays as it is.
//
// Fails as SavedImage::read and WorldReader::open do, with wrong_layout (see the problem; also when the
// segment is not where it was or of another size, or the world has room for fewer archetypes),
// capacity_exhausted (no room for what was converted), not_supported (a removed component is one of the
// library's own), and as commit() and rollback() do. Then the world is
// as it was. As for commit(), nobody writes meanwhile. Queries are made anew behind it, as always.
Expected<Tick> load_world(World& world, const char* path, const WorldLoadOptions& options = {}) noexcept;
Expected<Tick> read_world(World& world, ImageSource source, const WorldLoadOptions& options = {}) noexcept;

}  // namespace ouro
