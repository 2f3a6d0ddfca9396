#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/base/field_kind.hpp>
#include <ouro/base/fixed_string.hpp>
#include <ouro/ecs/image_bytes.hpp>
#include <ouro/ecs/image_layout.hpp>
#include <ouro/ecs/layout.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace ouro {

// A world as bytes, for whoever does not know its C++ types: tools, other processes, other versions of the
// program. It believes nothing: what does not fit is corrupt_data, so that a damaged file, or an image that
// is being written at this moment, is at worst read wrongly.
//
//     const auto reader = WorldReader::open(*ring.view(tick));           // or saved->bytes()
//     const auto health = reader->find_component("Health");
//     reader->read_cell(ada, *health, std::as_writable_bytes(std::span(&value, 1)));
//
// Records are copies, and are good for this reader only. Sizes, places and counts in them were checked, so
// that the functions that take one are safe. A small value; the bytes outlive it.
class WorldReader {
public:
    // The world of a segment; without a name, the first one in the image. Fails with not_found (no such
    // segment, or no world in it), wrong_format (not an image, or of another version), wrong_layout (of this
    // version, but from a program whose structures lie otherwise), corrupt_data, and as the bytes do. What
    // the world says of its layout is put into `found`, as soon as that much could be read.
    [[nodiscard]] static Expected<WorldReader> open(const ImageBytes& bytes, std::string_view segment = {},
                                                    LayoutFound* found = nullptr) noexcept;

    [[nodiscard]] const WorldHeader& header() const noexcept { return header_; }
    [[nodiscard]] std::string_view segment() const noexcept { return name_.view(); }
    [[nodiscard]] std::uint64_t segment_offset() const noexcept { return begin_; }
    [[nodiscard]] std::uint64_t segment_bytes() const noexcept { return end_ - begin_; }
    [[nodiscard]] std::uint64_t header_offset() const noexcept { return header_offset_; }
    [[nodiscard]] const ImageBytes& bytes() const noexcept { return bytes_; }

    // --- components. All of them fail with out_of_range (no such number) and corrupt_data.
    [[nodiscard]] Expected<ComponentRecord> component(std::uint32_t id) const noexcept;
    // not_found.
    [[nodiscard]] Expected<ComponentId> find_component(std::string_view name) const noexcept;
    [[nodiscard]] Expected<FieldRecord> field(const ComponentRecord& component,
                                              std::uint32_t number) const noexcept;

    // --- archetypes
    [[nodiscard]] Expected<ArchetypeRecord> archetype(std::uint32_t number) const noexcept;
    [[nodiscard]] Expected<ColumnRecord> column(const ArchetypeRecord& archetype,
                                                std::uint32_t number) const noexcept;
    // The number of a component's column plus one; zero: the archetype has none.
    [[nodiscard]] Expected<std::uint32_t> column_of(const ArchetypeRecord& archetype,
                                                    ComponentId id) const noexcept;
    [[nodiscard]] Expected<BlockColumn> block_column(const ArchetypeRecord& archetype, std::uint32_t block,
                                                     std::uint32_t column) const noexcept;
    // From the start of the image.
    [[nodiscard]] Expected<std::uint64_t> cell_offset(const ArchetypeRecord& archetype, std::uint32_t row,
                                                      std::uint32_t column) const noexcept;
    [[nodiscard]] Expected<bool> is_disabled(const ArchetypeRecord& archetype, std::uint32_t row,
                                             std::uint32_t column) const noexcept;
    [[nodiscard]] Expected<Entity> entity_at(const ArchetypeRecord& archetype,
                                             std::uint32_t row) const noexcept;

    // --- sparse components
    // Requires: of this kind, else out_of_range. Its rows are an archetype to all functions that take one,
    // with the component as the second column.
    [[nodiscard]] Expected<SparseTable> sparse(const ComponentRecord& component) const noexcept;
    // The row of the entity in a slot plus one; zero: it has none.
    [[nodiscard]] Expected<std::uint32_t> sparse_row(const SparseTable& table,
                                                     std::uint32_t slot_index) const noexcept;

    // --- entities
    [[nodiscard]] Expected<EntitySlot> slot(std::uint32_t index) const noexcept;
    // The entity that has the slot now; null when it is free.
    [[nodiscard]] Expected<Entity> entity_in(std::uint32_t index) const noexcept;
    // stale_handle.
    [[nodiscard]] Expected<EntitySlot> find(Entity entity) const noexcept;
    // Copies a component of an entity. Fails with stale_handle, not_found (it has none, or that has no value)
    // and bad_argument (it is of another size).
    [[nodiscard]] Status read_cell(Entity entity, ComponentId id, std::span<std::byte> out) const noexcept;
    // Calls with the indices of free slots, in the order in which they will be used; corrupt_data when the
    // list never ends.
    template <class Visit>
    Status each_free_slot(Visit&& visit) const {
        std::uint32_t left = header_.used_slots;
        for (std::uint32_t next = header_.first_free; next != 0; --left) {
            const auto free = slot(next - 1);
            if (!free || free->archetype != kNoArchetype || left == 0) return Status::corrupt_data;
            visit(next - 1);
            next = free->row;
        }
        return Status::ok;
    }

    // Bytes of the world's segment; corrupt_data when they are not all in it.
    [[nodiscard]] Status read(std::uint64_t offset, std::span<std::byte> out) const noexcept;
    template <class T>
    [[nodiscard]] Expected<T> load(std::uint64_t offset) const noexcept {
        T value{};
        const Status status = read(offset, std::as_writable_bytes(std::span(&value, 1)));
        if (status != Status::ok) return status;
        return value;
    }

    // Whether the world is in another tick by now than when it was opened: then what was read may be of both.
    [[nodiscard]] bool has_moved_on() const noexcept {
        const auto now = load<WorldHeader>(header_offset_);
        return !now || now->tick != header_.tick;
    }

    // Walks everything: ok, or corrupt_data.
    [[nodiscard]] Status check() const noexcept;

private:
    explicit WorldReader(const ImageBytes& bytes) noexcept : bytes_(bytes) {}

    [[nodiscard]] bool fits(std::uint64_t offset, std::uint64_t bytes) const noexcept {
        return offset >= begin_ && offset <= end_ && bytes <= end_ - offset;
    }
    [[nodiscard]] Status take_header(std::uint64_t heap, LayoutFound* found) noexcept;
    [[nodiscard]] bool has_sound_header() const noexcept;
    [[nodiscard]] bool is_sound(const ComponentRecord& component) const noexcept;
    [[nodiscard]] bool is_sound(const ArchetypeRecord& archetype) const noexcept;
    [[nodiscard]] Status check_layout() const noexcept;
    [[nodiscard]] Status check_sparse(const ComponentRecord& component) const noexcept;
    [[nodiscard]] Status check_archetypes() const noexcept;
    [[nodiscard]] Status check_rows(const ArchetypeRecord& archetype, std::uint32_t number) const noexcept;
    [[nodiscard]] Status check_slots() const noexcept;

    ImageBytes bytes_;
    FixedString<31> name_;
    std::uint64_t begin_ = 0;
    std::uint64_t end_ = 0;
    std::uint64_t header_offset_ = 0;
    WorldHeader header_{};
};

}  // namespace ouro
