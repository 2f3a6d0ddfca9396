#pragma once

#include "ecs_rig.hpp"

#include <ouro/base/random.hpp>
#include <ouro/ecs/names.hpp>
#include <ouro/ecs/prefabs.hpp>
#include <ouro/ecs/relations.hpp>

#include <cstring>
#include <string>
#include <vector>

namespace ouro::testing_support {

struct RichClock {
    std::uint32_t ticks;
};
struct Likes {};

// Some bytes of an image, and what to put there.
struct Damage {
    std::string what;
    std::uint32_t offset = 0;
    std::uint64_t value = 0;
    std::size_t bytes = 4;
};

// Some of everything that a world can have, in a small segment.
class RichWorld {
public:
    static constexpr std::uint64_t kBytes = std::uint64_t{1} << 20;
    static WorldOptions options() { return {.max_entities = 2'000, .max_archetypes = 32}; }

    RichWorld() : rig_(kBytes, options()) {
        if (!rig_.is_ready()) return;
        World& own = rig_.world();
        std::vector<Entity> all;
        for (std::int32_t i = 0; i < 200; ++i) {
            const auto part = static_cast<float>(i);
            all.push_back(i % 2 == 0 ? *own.spawn(Position{part, 0}, Health{i}, Genome{})
                                     : *own.spawn(Position{part, 1}, Velocity{}, Alert{3}));
        }
        static_cast<void>(*own.spawn(Position{}, Prefab{}));
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (i % 3 == 0) static_cast<void>(own.add(all[i], Burning{7}));
            if (i % 5 == 0) static_cast<void>(own.add(all[i], Stunned{7, 1}));
            if (i > 20 && i < 60) static_cast<void>(relate<ChildOf>(own, all[i], all[i / 8]));
            if (i > 60 && i < 80) static_cast<void>(relate<Likes>(own, all[i], all[i % 4]));
            if (i > 80 && i < 100) {
                EXPECT_EQ(set_name(own, all[i], "name " + std::to_string(i)), Status::ok);
            }
        }
        EXPECT_EQ(set_name(own, all[0], "ada"), Status::ok);
        EXPECT_TRUE(own.disable<Alert>(all[1]));
        own.edit_resource<RichClock>()->ticks = 12;
        for (std::size_t i = 150; i < 170; ++i)
            EXPECT_EQ(own.destroy(all[i]), Status::ok);
        rig_.commit();
        sound_ = rig_.bytes();
        tick_ = rig_.ring().newest();
    }

    [[nodiscard]] bool is_ready() const { return rig_.is_ready() && !sound_.empty(); }
    [[nodiscard]] StateRing& ring() { return rig_.ring(); }
    [[nodiscard]] World& world() { return rig_.world(); }
    [[nodiscard]] std::vector<std::byte> bytes() const { return rig_.bytes(); }

    void apply(const Damage& damage) { write(damage.offset, &damage.value, damage.bytes); }
    // One to three bytes or words somewhere in what is used of the segment; most often in its records.
    void damage_at_random(Random& random) {
        const WorldHeader header = world().core().header();
        const std::uint32_t count = 1 + random.below(3);
        for (std::uint32_t i = 0; i < count; ++i) {
            std::uint32_t offset = 0;
            do {
                const std::array<std::uint32_t, 5> places = {
                    world().core().segment_offset() + random.below(8192),
                    world().core().offset_of_header() + random.below(sizeof(WorldHeader)),
                    header.components + random.below(header.component_count * sizeof(ComponentRecord)),
                    header.archetypes + random.below(header.archetype_count * sizeof(ArchetypeRecord)),
                    world().core().segment_offset() + random.below(kBytes)};
                offset = places[random.below(5)];
                // Where nothing is, nothing is damaged most of the time.
            } while (sound_[offset] == std::byte{0} && random.below(8) != 0);
            std::uint32_t value = random.below(256);
            std::memcpy(&value, sound_.data() + offset, 1);
            switch (random.below(4)) {
                case 0:
                    write(offset, std::array{static_cast<std::uint8_t>(random.below(256))}.data(), 1);
                    break;
                case 1:
                    value ^= 1U << random.below(8);
                    write(offset, &value, 1);
                    break;
                case 2:
                    value = header.archetypes + random.below(kBytes / 2);
                    write(offset / 4 * 4, &value, 4);
                    break;
                default:
                    value = random.below(64) * 16 + world().core().segment_offset();
                    write(offset / 4 * 4, &value, 4);
                    break;
            }
        }
    }
    // As it was, whatever was done meanwhile.
    void repair() {
        if (ring().newest() != tick_) {
            EXPECT_TRUE(ring().rollback(tick_));
            return;
        }
        const MemoryBlock image = ring().image();
        for (std::size_t at = 0; at < image.size; at += kStatePageBytes)
            if (std::memcmp(image.data + at, sound_.data() + at, kStatePageBytes) != 0) {
                static_cast<void>(ring().mark(image.data + at, kStatePageBytes));
                std::memcpy(image.data + at, sound_.data() + at, kStatePageBytes);
            }
    }

private:
    void write(std::uint32_t offset, const void* value, std::size_t bytes) {
        std::byte* const place = ring().image().data + offset;
        static_cast<void>(ring().mark(place, bytes));
        std::memcpy(place, value, bytes);
    }

    EcsRig rig_;
    std::vector<std::byte> sound_;
    Tick tick_ = 0;
};

// What everybody may do with a world that was accepted: nothing of it may lead astray.
inline void use_world(World& world) {
    std::vector<Entity> all;
    Query<Entity>(world).each([&](Entity entity) { all.push_back(entity); });
    for (std::size_t i = 0; i < all.size() && i < 40; ++i) {
        static_cast<void>(name_of(world, all[i]));
        static_cast<void>(set_name(world, all[i], "other " + std::to_string(i)));
        static_cast<void>(relate<ChildOf>(world, all[i], all[all.size() - 1 - i]));
        static_cast<void>(relate<Likes>(world, all[all.size() - 1 - i], all[i]));
        each_source<Likes>(world, all[i], [](Entity) {});
        static_cast<void>(world.add(all[i], Stunned{1, 2}));
        static_cast<void>(world.add(all[i], Frozen{}));
    }
    static_cast<void>(find_named(world, "ada"));
    static_cast<void>(world.spawn_copies(300, Position{1, 1}));
    for (std::size_t i = 0; i < all.size(); i += 2)
        static_cast<void>(world.destroy(all[i]));
    for (std::size_t i = 1; i < all.size(); i += 4)
        if (world.is_alive(all[i])) static_cast<void>(clone(world, all[i]));
    for (const Entity entity : all)
        static_cast<void>(world.destroy(entity));
}

// Single faults, each of which must be noticed.
class Damages {
public:
    explicit Damages(World& world) : core_(world.core()), header_(core_.header()) {
        of_the_header();
        of_names();
        for (SparseTable* table = core_.sparse_at(header_.first_sparse); table != nullptr;
             table = core_.sparse_at(table->next))
            of_table(*table);
        of_what_is_given_back();
    }
    [[nodiscard]] const std::vector<Damage>& all() const { return all_; }

private:
    void add(std::string what, std::size_t offset, std::uint64_t value, std::size_t bytes = 4) {
        all_.push_back({std::move(what), static_cast<std::uint32_t>(offset), value, bytes});
    }
    void of_the_header() {
        const std::uint32_t base = core_.offset_of_header();
        const std::uint32_t front = core_.segment_offset();
        add("more roots", front + offsetof(ImageHeapHeader, root_count), 2);
        add("a root of nothing", front + offsetof(ImageHeapHeader, roots) + 64, 1, 1);
        add("no components", base + offsetof(WorldHeader, component_count), 1);
        add("components elsewhere", base + offsetof(WorldHeader, components), header_.entities);
        add("another registry", base + offsetof(WorldHeader, registry_hash), 5, 8);
        add("other components", base + offsetof(WorldHeader, layout_hash), 5, 8);
        add("another field",
            header_.components + 2 * sizeof(ComponentRecord) + offsetof(ComponentRecord, layout_hash), 5, 8);
        add("more archetypes", base + offsetof(WorldHeader, archetype_count), 1'000);
        add("more prefabs", base + offsetof(WorldHeader, prefab_archetypes), 7);
        add("an arena over the slots", base + offsetof(WorldHeader, arenas), header_.entities);
        add("an arena without end", base + offsetof(WorldHeader, arenas) + 4, UINT32_MAX);
        add("the list of tables", base + offsetof(WorldHeader, first_sparse), 0);
    }
    void of_names() {
        const std::uint32_t place = core_.offset_of_header() + offsetof(WorldHeader, names);
        add("no names", place, 0);
        add("names elsewhere", place, header_.entities);
        add("names outside", place, 0xFFFF'FFF0);
        add("the block of the names", header_.names, header_.entities);
        add("too few names", header_.names + 4, 1);
        add("too many slots of names", header_.names + 12, 1U << 28);
        add("an odd number of slots of names", header_.names + 12, 33);
        const auto block = *reinterpret_cast<const std::uint32_t*>(core_.at(header_.names));
        for (std::uint32_t i = 0; i < 8; ++i)
            if (reinterpret_cast<const std::uint64_t*>(core_.at(block))[i] != 0)
                add("a slot of the names", block + i * 8, 0x1234'5678'0000'0fff, 8);
    }
    void of_table(const SparseTable& table) {
        const std::uint32_t place = core_.heap().offset_of(&table);
        const std::string name = std::string(core_.component(table.component).name.view()) + ": ";
        add(name + "another component", place + offsetof(SparseTable, component), 2, 2);
        add(name + "an unknown role", place + offsetof(SparseTable, role), 9, 1);
        add(name + "next is itself", place + offsetof(SparseTable, next), place);
        add(name + "pages elsewhere", place + offsetof(SparseTable, pages), header_.entities);
        add(name + "a map of columns", place + offsetof(ArchetypeRecord, column_map), header_.entities);
        add(name + "more pages", place + offsetof(SparseTable, page_count), 400);
        add(name + "one waits", place + offsetof(SparseTable, doomed_first), 1);
        add(name + "rows in the slots", place + offsetof(ArchetypeRecord, blocks), header_.entities);
        if (table.role == SparseRole::plain) {
            add(name + "said to be names", place + offsetof(SparseTable, role), 1, 1);
            add(name + "said to be links", place + offsetof(SparseTable, role), 2, 1);
            add(name + "said to be sources", place + offsetof(SparseTable, role), 4, 1);
        } else if (table.role != SparseRole::name) {
            const std::uint32_t values = core_.block(table.rows, 0)[1].data;
            add(name + "no partner", place + offsetof(SparseTable, partner), 0);
            add(name + "its own partner", place + offsetof(SparseTable, partner), place);
            add(name + "another partner", place + offsetof(SparseTable, partner), header_.first_sparse);
            add(name + "a partner outside", place + offsetof(SparseTable, partner), 0xFFFF'FFF0);
            add(name + "a value of a list", values + 4, 0x00ff'00ff);
            add(name + "a size of a list", values + 8, 77);
        }
    }
    // By a conversion.
    void of_what_is_given_back() {
        for (std::uint32_t id = 2; id < header_.component_count; ++id) {
            const std::size_t place = header_.components + id * sizeof(ComponentRecord);
            const ComponentRecord& record = core_.component(static_cast<ComponentId>(id));
            if (record.field_count == 0) continue;
            const std::string name(record.name.view());
            add(name + ": fields elsewhere", place + offsetof(ComponentRecord, fields),
                header_.entities + 4'096);
            if (record.kind == ComponentKind::singleton)
                add(name + ": value elsewhere", place + offsetof(ComponentRecord, data), header_.entities);
        }
        for (std::uint32_t number = 0; number < header_.archetype_count; ++number) {
            const ArchetypeRecord& archetype = core_.archetype(number);
            if (archetype.block_count == 0) continue;
            const std::size_t columns = archetype.blocks[0];
            const std::string name = "archetype " + std::to_string(number) + ": ";
            add(name + "data in the slots", columns + offsetof(BlockColumn, data), header_.entities);
            add(name + "bits in the slots", columns + offsetof(BlockColumn, planes), header_.entities + 64);
            if (archetype.column_count > 1)
                add(name + "data of two", columns + sizeof(BlockColumn) + offsetof(BlockColumn, data),
                    core_.block(archetype, 0)[0].data);
        }
    }

    detail::WorldCore& core_;
    const WorldHeader& header_;
    std::vector<Damage> all_;
};

// Printed with each failure; OURO_TEST_SEED gives another one, and OURO_TEST_LONG many more rounds.
inline constexpr std::uint64_t kDamageSeed = 0x5eed'0006;
std::uint64_t damage_seed();
std::uint32_t damage_rounds(std::uint32_t usual);

}  // namespace ouro::testing_support
