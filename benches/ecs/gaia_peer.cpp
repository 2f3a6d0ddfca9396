#include "ecs/ecs_peers.hpp"

#include <gaia.h>

namespace ouro::bench {
namespace {

namespace ecs = gaia::ecs;

class GaiaWorld final : public EcsWorld {
public:
    explicit GaiaWorld(std::uint32_t capacity)
        : moving_(world_.query().all<Position&>().all<Velocity>()),
          scaled_(world_.query().all<Position&>().all<Velocity>().all<Scale>()),
          placed_(world_.query().all<Position&>()),
          poisoned_(world_.query().all<Poison>()),
          changes_(world_.query().all<Position>().changed<Position>()) {
        ids_.reserve(capacity);
    }

    void populate(Population population, const EntityRows& rows) override {
        for (std::uint32_t i = 0; i < rows.size(); ++i) {
            const ecs::Entity id = spawn(rows, i);
            if (has_scale(population)) world_.add<Scale>(id, Scale(rows.scales[i]));
            if (population == Population::quads) world_.add<Vitality>(id, Vitality(rows.vitalities[i]));
            for_each_trait(trait_bits(population, i),
                           [&](auto trait) { world_.add<decltype(trait)>(id, decltype(trait)(trait)); });
            ids_.push_back(id);
        }
    }
    void rewind() override {
        placed_.each([](Position& position) { position = {}; });
    }
    std::uint64_t checksum() override {
        std::uint64_t sum = 0;
        placed_.each([&](Position& position) { sum += sum_of(position); });
        return sum;
    }

    void create_each(const EntityRows& rows) override {
        for (std::uint32_t i = 0; i < rows.size(); ++i)
            ids_.push_back(spawn(rows, i));
    }
    void create_bulk(const EntityRows& rows, bool four) override {
        const ecs::Entity first = spawn(rows, 0);
        if (four) {
            world_.add<Scale>(first, Scale(rows.scales[0]));
            world_.add<Vitality>(first, Vitality(rows.vitalities[0]));
        }
        ids_.push_back(first);
        std::uint32_t made = 1;
        world_.copy_n(first, rows.size() - 1, [&](ecs::CopyIter& it) {
            const auto ids = it.view<ecs::Entity>();
            auto positions = it.view_mut<Position>();
            auto velocities = it.view_mut<Velocity>();
            GAIA_EACH(it) {
                positions[i] = rows.positions[made + i];
                velocities[i] = rows.velocities[made + i];
                ids_.push_back(ids[i]);
            }
            if (four) {
                auto scales = it.view_mut<Scale>();
                auto vitalities = it.view_mut<Vitality>();
                GAIA_EACH(it) {
                    scales[i] = rows.scales[made + i];
                    vitalities[i] = rows.vitalities[made + i];
                }
            }
            made += static_cast<std::uint32_t>(it.size());
        });
    }
    void destroy_each() override {
        for (const ecs::Entity id : ids_)
            world_.del(id);
        ids_.clear();
        world_.update();
    }
    void destroy_bulk() override { lacking("destroy"); }

    void integrate(unsigned times) override {
        for (unsigned i = 0; i < times; ++i)
            moving_.each([](Position& position, const Velocity& velocity) { move(position, velocity); });
    }
    void integrate_scaled(unsigned times) override {
        for (unsigned i = 0; i < times; ++i)
            scaled_.each([](Position& position, const Velocity& velocity, const Scale& scale) {
                move_scaled(position, velocity, scale);
            });
    }
    // Its parallel loop visits the first chunks several times and the others never, as of 0.9.2.
    void integrate_on_two_threads(unsigned) override { lacking("two threads"); }

    std::uint64_t get(std::span<const std::uint32_t> order) override {
        std::uint64_t sum = 0;
        for (const std::uint32_t entity : order)
            sum += sum_of(world_.get<Position>(ids_[entity]));
        return sum;
    }

    void add(Change) override {
        for (const ecs::Entity id : ids_)
            world_.add<Poison>(id, Poison{1, 2});
    }
    void remove(Change) override {
        for (const ecs::Entity id : ids_)
            world_.del<Poison>(id);
    }
    std::uint64_t count_with(Change) override { return poisoned_.count(); }

    void touch(std::span<const std::uint32_t> entities) override {
        for (const std::uint32_t entity : entities)
            world_.set<Position>(ids_[entity]) = Position{1, 1};
    }
    std::uint64_t sum_changed() override {
        std::uint64_t sum = 0;
        changes_.each([&](const Position& position) { sum += static_cast<std::uint64_t>(position.x); });
        return sum;
    }
    void settle() override { (void)sum_changed(); }

    // Its command buffer looks through all entities it was told of for each command: at 100,000, minutes.
    void add_deferred() override { lacking("deferred"); }
    void destroy_deferred() override { lacking("deferred"); }
    void spawn_deferred(const EntityRows&) override { lacking("deferred"); }

    void save() override { lacking("save"); }
    void spoil() override {}
    void restore() override { lacking("restore"); }

private:
    ecs::Entity spawn(const EntityRows& rows, std::uint32_t i) {
        const ecs::Entity id = world_.add();
        world_.build(id).add<Position>().add<Velocity>();
        world_.acc_mut(id)
            .set<Position>(Position(rows.positions[i]))
            .set<Velocity>(Velocity(rows.velocities[i]));
        return id;
    }

    ecs::World world_;
    ecs::Query moving_;
    ecs::Query scaled_;
    ecs::Query placed_;
    ecs::Query poisoned_;
    ecs::Query changes_;
    std::vector<ecs::Entity> ids_;
};

}  // namespace

EcsCandidate gaia_peer() {
    const std::string version = std::to_string(GAIA_VERSION_MAJOR) + "." +
                                std::to_string(GAIA_VERSION_MINOR) + "." + std::to_string(GAIA_VERSION_PATCH);
    return {"gaia-ecs",
            version,
            [](std::uint32_t capacity) -> std::unique_ptr<EcsWorld> {
                return std::make_unique<GaiaWorld>(capacity);
            },
            {Feature::bulk_destruction, Feature::sparse, Feature::switched, Feature::deferred_changes,
             Feature::deferred_spawns, Feature::two_threads, Feature::save, Feature::restore}};
}

}  // namespace ouro::bench
