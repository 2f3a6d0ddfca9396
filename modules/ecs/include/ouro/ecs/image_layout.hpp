#pragma once

#include <ouro/base/field_info.hpp>
#include <ouro/base/hash.hpp>
#include <ouro/base/type_name.hpp>
#include <ouro/ecs/layout.hpp>
#include <ouro/streams/image_heap.hpp>
#include <ouro/streams/live_image.hpp>

#include <cstdint>
#include <span>
#include <string_view>

// The one list of what an image with a world is made of. The JSON and TypeScript in web/layout are written
// from it, and so is the hash by which readers tell whether they and the writer mean the same bytes.
namespace ouro {

// What the numbers mean that fields of the structures hold.
template <class Visit>
constexpr void each_image_enumerator(Visit&& visit) {
    const auto tell = [&](const char* name, auto value) { visit(name, static_cast<std::uint64_t>(value)); };
    tell("HEAT_HOT", Heat::hot);
    tell("HEAT_WARM", Heat::warm);
    tell("HEAT_COLD", Heat::cold);
    tell("KIND_COLUMN", ComponentKind::column);
    tell("KIND_TAG", ComponentKind::tag);
    tell("KIND_SPARSE", ComponentKind::sparse);
    tell("KIND_SINGLETON", ComponentKind::singleton);
    tell("ROLE_PLAIN", SparseRole::plain);
    tell("ROLE_NAME", SparseRole::name);
    tell("ROLE_LINK", SparseRole::link);
    tell("ROLE_SOURCES_STAY", SparseRole::sources_stay);
    tell("ROLE_SOURCES_FOLLOW", SparseRole::sources_follow);
    tell("CHANGES_NONE", Changes::none);
    tell("CHANGES_SOME", Changes::some);
    tell("CHANGES_ALL", Changes::all);
    tell("FIELD_BOOLEAN", FieldKind::boolean);
    tell("FIELD_CHARACTER", FieldKind::character);
    tell("FIELD_SIGNED", FieldKind::signed_integer);
    tell("FIELD_UNSIGNED", FieldKind::unsigned_integer);
    tell("FIELD_FLOATING", FieldKind::floating);
    tell("FIELD_TEXT", FieldKind::text);
    tell("FIELD_HANDLE", FieldKind::handle);
    tell("FIELD_OFFSET", FieldKind::offset);
    tell("FIELD_OPAQUE", FieldKind::opaque);
}

// Calls with the name and the value of each number that readers must share.
template <class Visit>
constexpr void each_image_number(Visit&& visit) {
    visit("IMAGE_VERSION", std::uint64_t{ImageHeader::kVersion});
    visit("HEAP_VERSION", std::uint64_t{ImageHeapHeader::kVersion});
    visit("WORLD_VERSION", std::uint64_t{WorldHeader::kVersion});
    visit("PAGE_BYTES", std::uint64_t{kStatePageBytes});
    visit("MAX_COMPONENTS", std::uint64_t{kMaxComponents});
    visit("FIRST_BLOCK_ROWS", std::uint64_t{kFirstBlockRows});
    visit("MAX_BLOCKS", std::uint64_t{kMaxBlocks});
    visit("NO_ARCHETYPE", std::uint64_t{kNoArchetype});
    visit("ENTITY_COMPONENT", std::uint64_t{kEntityComponent});
    visit("SPARSE_PAGE_SLOTS", std::uint64_t{kSparsePageSlots});
    each_image_enumerator(visit);
}

// Calls visit.operator()<T>() with each structure.
template <class Visit>
constexpr void each_image_struct(Visit&& visit) {
    visit.template operator()<ImageHeader>();
    visit.template operator()<ImageHeapHeader>();
    visit.template operator()<WorldHeader>();
    visit.template operator()<ComponentRecord>();
    visit.template operator()<FieldRecord>();
    visit.template operator()<EntitySlot>();
    visit.template operator()<ArchetypeRecord>();
    visit.template operator()<ColumnRecord>();
    visit.template operator()<BlockColumn>();
    visit.template operator()<SparseTable>();
}

namespace detail {

[[nodiscard]] constexpr std::uint64_t fold_field(std::uint64_t hash, const FieldInfo& field) noexcept {
    hash = combine_hash(combine_hash(hash, hash_name(field.name)), static_cast<std::uint64_t>(field.kind));
    hash = combine_hash(combine_hash(hash, field.offset), field.element_bytes);
    return combine_hash(hash, field.count);
}

// Adds a component to WorldHeader::layout_hash; its fields follow, by fold_field.
[[nodiscard]] constexpr std::uint64_t fold_component(std::uint64_t hash,
                                                     const ComponentRecord& record) noexcept {
    hash = combine_hash(combine_hash(hash, hash_name(record.name.view())), record.layout_hash);
    hash = combine_hash(combine_hash(hash, record.bytes), record.alignment);
    hash = combine_hash(combine_hash(hash, static_cast<std::uint64_t>(record.kind)), record.toggles);
    return combine_hash(hash, record.field_count);
}
[[nodiscard]] constexpr std::uint64_t fold_field(std::uint64_t hash, const FieldRecord& field) noexcept {
    return fold_field(hash, {field.name.view(), static_cast<FieldKind>(field.kind), field.offset,
                             field.element_bytes, field.count});
}

consteval std::uint64_t hash_of_structures() {
    std::uint64_t hash = 0;
    each_image_number([&](std::string_view name, std::uint64_t value) {
        hash = combine_hash(combine_hash(hash, hash_name(name)), value);
    });
    each_image_struct([&]<class T>() {
        hash = combine_hash(combine_hash(hash, hash_name(type_name<T>())), sizeof(T));
        for (const FieldInfo& field : fields_of<T>())
            hash = fold_field(hash, field);
    });
    return hash;
}

}  // namespace detail

// WorldHeader::structures_hash of all images that this program writes and reads: over the names and sizes of
// the structures, the names, kinds, places and sizes of all their fields, and what numbers in them mean. The
// same for every compiler and platform.
inline constexpr std::uint64_t kStructuresHash = detail::hash_of_structures();

// What an image says of its layout, beside what this program reads.
struct LayoutFound {
    std::uint32_t version = 0;
    std::uint64_t structures_hash = 0;

    [[nodiscard]] bool is_known() const noexcept {
        return version == WorldHeader::kVersion && structures_hash == kStructuresHash;
    }
};
// "is laid out as 0x0123456789abcdef (version 1); this program reads 0x... (version 2)": a sentence of which
// the image is the beginning. As much as fits, with a zero at the end.
[[nodiscard]] std::string_view describe_layout(const LayoutFound& found, std::span<char> text) noexcept;

}  // namespace ouro
