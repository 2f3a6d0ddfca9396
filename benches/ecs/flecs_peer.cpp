#include "ecs/ecs_peers.hpp"

#include <array>
#include <cstring>

#include <flecs.h>

namespace ouro::bench {
namespace {

class FlecsWorld final : public EcsWorld {
public:
    explicit FlecsWorld(std::uint32_t capacity)
        : moving_((register_components(), world_.query<Position, const Velocity>())),
          scaled_(world_.query<Position, const Velocity, const Scale>()),
          placed_(world_.query<Position>()) {
        ids_.reserve(capacity);
    }

    void populate(Population population, const EntityRows& rows) override {
        for (std::uint32_t i = 0; i < rows.size(); ++i) {
            const flecs::entity entity =
                world_.entity().set(Position(rows.positions[i])).set(Velocity(rows.velocities[i]));
            if (has_scale(population)) entity.set(Scale(rows.scales[i]));
            if (population == Population::quads) entity.set(Vitality(rows.vitalities[i]));
            for_each_trait(trait_bits(population, i), [&](auto trait) { entity.set(std::move(trait)); });
            ids_.push_back(entity.id());
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
        create_from(rows.positions.data(), rows.velocities.data(), four ? rows.scales.data() : nullptr,
                    four ? rows.vitalities.data() : nullptr, rows.size());
    }
    void destroy_each() override {
        for (const flecs::entity_t id : ids_)
            ecs_delete(world_, id);
        ids_.clear();
    }
    void destroy_bulk() override {
        world_.delete_with<Position>();
        ids_.clear();
    }

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
    void integrate_on_two_threads(unsigned times) override {
        if (!has_threads_) {
            world_.set_threads(2);
            world_.system<Position, const Velocity>().multi_threaded().each(
                [](Position& position, const Velocity& velocity) { move(position, velocity); });
            has_threads_ = true;
        }
        for (unsigned i = 0; i < times; ++i)
            world_.progress(1.0F);
    }

    std::uint64_t get(std::span<const std::uint32_t> order) override {
        std::uint64_t sum = 0;
        for (const std::uint32_t entity : order)
            sum += sum_of(flecs::entity(world_, ids_[entity]).get<Position>());
        return sum;
    }

    void add(Change change) override {
        for (const flecs::entity_t id : ids_) {
            const flecs::entity entity(world_, id);
            if (change == Change::moved)
                entity.set(Poison{1, 2});
            else if (change == Change::sparse)
                entity.set(VolatilePoison{1, 2});
            else
                entity.enable<SwitchedPoison>();
        }
    }
    void remove(Change change) override {
        for (const flecs::entity_t id : ids_) {
            const flecs::entity entity(world_, id);
            if (change == Change::moved)
                entity.remove<Poison>();
            else if (change == Change::sparse)
                entity.remove<VolatilePoison>();
            else
                entity.disable<SwitchedPoison>();
        }
    }
    void prepare_switch() override {
        for (const flecs::entity_t id : ids_)
            flecs::entity(world_, id).set(SwitchedPoison{1, 2}).disable<SwitchedPoison>();
    }
    std::uint64_t count_with(Change change) override {
        std::uint64_t count = 0;
        for (const flecs::entity_t id : ids_) {
            const flecs::entity entity(world_, id);
            bool has = false;
            if (change == Change::moved)
                has = entity.has<Poison>();
            else if (change == Change::sparse)
                has = entity.has<VolatilePoison>();
            else
                has = entity.enabled<SwitchedPoison>();
            count += has ? 1U : 0U;
        }
        return count;
    }

    void touch(std::span<const std::uint32_t> entities) override {
        for (const std::uint32_t entity : entities)
            flecs::entity(world_, ids_[entity]).set(Position{1, 1});
    }
    std::uint64_t sum_changed() override {
        std::uint64_t sum = 0;
        changes().run([&](flecs::iter& it) {
            while (it.next()) {
                if (!it.changed()) continue;
                const auto positions = it.field<const Position>(0);
                for (const auto row : it)
                    sum += static_cast<std::uint64_t>(positions[row].x);
            }
        });
        return sum;
    }
    void settle() override { (void)sum_changed(); }

    void add_deferred() override {
        world_.defer_begin();
        for (const flecs::entity_t id : ids_)
            flecs::entity(world_, id).set(Poison{1, 2});
        world_.defer_end();
    }
    void destroy_deferred() override {
        world_.defer_begin();
        for (const flecs::entity_t id : ids_)
            ecs_delete(world_, id);
        world_.defer_end();
        ids_.clear();
    }
    void spawn_deferred(const EntityRows& rows) override {
        world_.defer_begin();
        for (std::uint32_t i = 0; i < rows.size(); ++i)
            ids_.push_back(
                world_.entity().set(Position(rows.positions[i])).set(Velocity(rows.velocities[i])).id());
        world_.defer_end();
    }

    // It has no snapshots: its columns are copied by hand, and a world is made of them in bulk.
    void save() override {
        saved_count_ = 0;
        all_columns().run([this](flecs::iter& it) {
            while (it.next()) {
                save_column(saved_positions_, &it.field<const Position>(0)[0], it.count());
                save_column(saved_velocities_, &it.field<const Velocity>(1)[0], it.count());
                save_column(saved_scales_, &it.field<const Scale>(2)[0], it.count());
                save_column(saved_vitalities_, &it.field<const Vitality>(3)[0], it.count());
                saved_count_ += it.count();
            }
        });
    }
    void spoil() override { destroy_bulk(); }
    void restore() override {
        create_from(saved_positions_.data(), saved_velocities_.data(), saved_scales_.data(),
                    saved_vitalities_.data(), static_cast<std::uint32_t>(saved_count_));
    }

private:
    void register_components() {
        world_.component<Position>();
        world_.component<Velocity>();
        world_.component<Scale>();
        world_.component<Vitality>();
        world_.component<VolatilePoison>().add(flecs::Sparse).add(flecs::DontFragment);
        world_.component<SwitchedPoison>().add(flecs::CanToggle);
    }

    flecs::entity_t spawn(const EntityRows& rows, std::uint32_t i) {
        return world_.entity()
            .insert([&](Position& position, Velocity& velocity) {
                position = rows.positions[i];
                velocity = rows.velocities[i];
            })
            .id();
    }
    void create_from(const Position* positions, const Velocity* velocities, const Scale* scales,
                     const Vitality* vitalities, std::uint32_t count) {
        std::array<const void*, 4> data{positions, velocities, scales, vitalities};
        ecs_bulk_desc_t wanted{};
        wanted.count = static_cast<std::int32_t>(count);
        wanted.ids[0] = world_.id<Position>();
        wanted.ids[1] = world_.id<Velocity>();
        if (scales != nullptr) {
            wanted.ids[2] = world_.id<Scale>();
            wanted.ids[3] = world_.id<Vitality>();
        }
        wanted.data = const_cast<void**>(data.data());
        const ecs_entity_t* made = ecs_bulk_init(world_, &wanted);
        ids_.assign(made, made + count);
    }

    template <class T>
    void save_column(std::vector<T>& saved, const T* column, std::size_t count) {
        if (saved.size() < saved_count_ + count) saved.resize(saved_count_ + count);
        std::memcpy(saved.data() + saved_count_, column, count * sizeof(T));
    }
    flecs::query<const Position>& changes() {
        if (!changes_) changes_ = world_.query_builder<const Position>().detect_changes().build();
        return changes_;
    }
    flecs::query<const Position, const Velocity, const Scale, const Vitality>& all_columns() {
        if (!all_columns_)
            all_columns_ = world_.query<const Position, const Velocity, const Scale, const Vitality>();
        return all_columns_;
    }

    flecs::world world_;
    flecs::query<Position, const Velocity> moving_;
    flecs::query<Position, const Velocity, const Scale> scaled_;
    flecs::query<Position> placed_;
    flecs::query<const Position> changes_;
    flecs::query<const Position, const Velocity, const Scale, const Vitality> all_columns_;
    bool has_threads_ = false;
    std::vector<flecs::entity_t> ids_;
    std::size_t saved_count_ = 0;
    std::vector<Position> saved_positions_;
    std::vector<Velocity> saved_velocities_;
    std::vector<Scale> saved_scales_;
    std::vector<Vitality> saved_vitalities_;
};

}  // namespace

EcsCandidate flecs_peer() {
    return {"flecs", FLECS_VERSION, [](std::uint32_t capacity) -> std::unique_ptr<EcsWorld> {
                return std::make_unique<FlecsWorld>(capacity);
            }};
}

}  // namespace ouro::bench
