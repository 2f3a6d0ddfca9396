#include "ecs/ecs_peers.hpp"
#include "ecs/our_ring.hpp"

#include <ouro/ecs/batches.hpp>
#include <ouro/ecs/command_queue.hpp>
#include <ouro/ecs/query.hpp>
#include <ouro/jobs/job_pool.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <type_traits>

template <>
inline constexpr ouro::ComponentOptions ouro::kComponentOptions<ouro::bench::SwitchedPoison> = {.toggles =
                                                                                                    true};
template <>
inline constexpr ouro::ComponentOptions ouro::kComponentOptions<ouro::bench::VolatilePoison> = {.sparse =
                                                                                                    true};

namespace ouro::bench {
namespace {

class OurWorld final : public EcsWorld {
public:
    explicit OurWorld(std::uint32_t capacity)
        : ring_(ring_for(capacity, capacity <= kMostWithHistory)), world_(world_in(ring_, capacity)) {
        ids_.reserve(capacity);
        must(world_.commit(), "commit");
        // Where there are so few, changes may be recorded for all of them.
        if (capacity <= kMostWithHistory) queue_.emplace(must(make_queue(capacity), "queue"));
    }

    void populate(Population population, const EntityRows& rows) override {
        for (std::uint32_t i = 0; i < rows.size(); ++i) {
            const Entity entity = must(world_.spawn(rows.positions[i], rows.velocities[i]), "spawn");
            if (has_scale(population)) must(world_.add(entity, rows.scales[i]), "add");
            if (population == Population::quads) must(world_.add(entity, rows.vitalities[i]), "add");
            for_each_trait(trait_bits(population, i),
                           [&](const auto& trait) { must(world_.add(entity, trait), "add"); });
            ids_.push_back(entity);
        }
        must(world_.commit(), "commit");
    }
    void rewind() override {
        Query<Position&>(world_).each([](Position& position) { position = {}; });
    }
    std::uint64_t checksum() override {
        std::uint64_t sum = 0;
        Query<const Position&>(world_).each([&](const Position& position) { sum += sum_of(position); });
        return sum;
    }

    void create_each(const EntityRows& rows) override {
        for (std::uint32_t i = 0; i < rows.size(); ++i)
            ids_.push_back(*world_.spawn(rows.positions[i], rows.velocities[i]));
    }
    void create_bulk(const EntityRows& rows, bool four) override {
        ids_.resize(rows.size());
        std::uint32_t i = 0;
        if (four)
            must(world_.spawn_many<Position, Velocity, Scale, Vitality>(
                     rows.size(),
                     [&](Entity entity, Position& position, Velocity& velocity, Scale& scale,
                         Vitality& vitality) {
                         position = rows.positions[i];
                         velocity = rows.velocities[i];
                         scale = rows.scales[i];
                         vitality = rows.vitalities[i];
                         ids_[i++] = entity;
                     }),
                 "spawn");
        else
            must(world_.spawn_many<Position, Velocity>(
                     rows.size(),
                     [&](Entity entity, Position& position, Velocity& velocity) {
                         position = rows.positions[i];
                         velocity = rows.velocities[i];
                         ids_[i++] = entity;
                     }),
                 "spawn");
    }
    void destroy_each() override {
        for (const Entity entity : ids_)
            (void)world_.destroy(entity);
        ids_.clear();
    }
    void destroy_bulk() override {
        (void)destroy_all(Query<With<Position>>(world_));
        ids_.clear();
    }

    void integrate(unsigned times) override {
        for (unsigned i = 0; i < times; ++i)
            Query<Position&, const Velocity&>(world_).each(
                [](Position& position, const Velocity& velocity) { move(position, velocity); });
    }
    void integrate_scaled(unsigned times) override {
        for (unsigned i = 0; i < times; ++i)
            Query<Position&, const Velocity&, const Scale&>(world_).each(
                [](Position& position, const Velocity& velocity, const Scale& scale) {
                    move_scaled(position, velocity, scale);
                });
    }
    void integrate_on_two_threads(unsigned times) override {
        if (!pool_) pool_.emplace(must(JobPool::create({.workers = 1}), "pool"));
        for (unsigned i = 0; i < times; ++i)
            Query<Position&, const Velocity&>(world_).parallel_each(
                *pool_, [](Position& position, const Velocity& velocity) { move(position, velocity); });
    }

    std::uint64_t get(std::span<const std::uint32_t> order) override {
        std::uint64_t sum = 0;
        for (const std::uint32_t entity : order)
            sum += sum_of(*world_.get<Position>(ids_[entity]));
        return sum;
    }

    std::uint64_t get_list(std::span<const std::uint32_t> order) override {
        std::uint64_t sum = 0;
        std::array<Entity, 256> list;
        const Query<const Position&> positions(world_);
        for (std::size_t begin = 0; begin < order.size(); begin += list.size()) {
            const std::size_t count = std::min(list.size(), order.size() - begin);
            for (std::size_t i = 0; i < count; ++i)
                list[i] = ids_[order[begin + i]];
            positions.visit(std::span(list).first(count),
                            [&](const Position& position) { sum += sum_of(position); });
        }
        return sum;
    }

    void add(Change change) override {
        if (change == Change::moved)
            for (const Entity entity : ids_)
                (void)world_.add(entity, Poison{1, 2});
        else if (change == Change::sparse)
            for (const Entity entity : ids_)
                (void)world_.add(entity, VolatilePoison{1, 2});
        else
            for (const Entity entity : ids_)
                (void)world_.enable<SwitchedPoison>(entity);
    }
    void remove(Change change) override {
        if (change == Change::moved)
            for (const Entity entity : ids_)
                (void)world_.remove<Poison>(entity);
        else if (change == Change::sparse)
            for (const Entity entity : ids_)
                (void)world_.remove<VolatilePoison>(entity);
        else
            for (const Entity entity : ids_)
                (void)world_.disable<SwitchedPoison>(entity);
    }
    void prepare_switch() override {
        for (const Entity entity : ids_) {
            must(world_.add(entity, SwitchedPoison{1, 2}), "add");
            must(world_.disable<SwitchedPoison>(entity), "disable");
        }
    }
    std::uint64_t count_with(Change change) override {
        if (change == Change::moved) return Query<const Poison&>(world_).count();
        if (change == Change::sparse) return Query<const VolatilePoison&>(world_).count();
        return Query<const SwitchedPoison&>(world_).count();
    }

    void touch(std::span<const std::uint32_t> entities) override {
        for (const std::uint32_t entity : entities)
            *world_.edit<Position>(ids_[entity]) = {1, 1};
    }
    std::uint64_t sum_changed() override {
        std::uint64_t sum = 0;
        Query<const Position&, ChangedNow<Position>>(world_).each(
            [&](const Position& position) { sum += static_cast<std::uint64_t>(position.x); });
        return sum;
    }
    void settle() override { must(world_.commit(), "commit"); }

    void add_deferred() override {
        Commands commands = queue().commands();
        for (const Entity entity : ids_)
            commands.add(entity, Poison{1, 2});
        merge();
    }
    void destroy_deferred() override {
        Commands commands = queue().commands();
        for (const Entity entity : ids_)
            commands.destroy(entity);
        merge();
        ids_.clear();
    }
    void spawn_deferred(const EntityRows& rows) override {
        Commands commands = queue().commands();
        for (std::uint32_t i = 0; i < rows.size(); ++i)
            commands.spawn(rows.positions[i], rows.velocities[i]);
        merge();
        Query<Entity, const Position&>(world_).each(
            [&](Entity entity, const Position&) { ids_.push_back(entity); });
    }

    void write_all() override {
        Query<Position&, Velocity&, Scale&, Vitality&>(world_).each(
            [](Position& position, Velocity&, Scale&, Vitality&) { keep_value(position); });
    }
    void save() override { saved_ = must(world_.commit(), "commit"); }
    void spoil() override {
        Query<Position&, Velocity&, Scale&, Vitality&>(world_).each(
            [](Position& position, Velocity& velocity, Scale& scale, Vitality& vitality) {
                position = {};
                velocity = {};
                scale = {};
                vitality = {};
            });
        must(world_.commit(), "commit");
    }
    void restore() override { must(ring_.rollback(saved_), "rollback"); }

private:
    static constexpr std::uint32_t kMostWithHistory = 100'000;

    static void keep_value(Position& position) noexcept { position = Position(position); }

    void merge() {
        const CommandReport report = queue_->merge(world_);
        if (report.status != Status::ok) give_up("merge", status_text(report.status));
    }
    static Expected<CommandQueue> make_queue(std::uint32_t capacity) {
        constexpr std::size_t kBytesOfCommand = 64;
        return CommandQueue::create(
            {.max_bytes = std::size_t{64} << 20, .prewarm_bytes = capacity * kBytesOfCommand});
    }
    CommandQueue& queue() { return *queue_; }

    StateRing ring_;
    World world_;
    std::vector<Entity> ids_;
    std::optional<JobPool> pool_;
    std::optional<CommandQueue> queue_;
    Tick saved_ = 0;
};

}  // namespace

EcsCandidate our_ecs() {
    return {"ours",
            "-",
            [](std::uint32_t capacity) -> std::unique_ptr<EcsWorld> {
                return std::make_unique<OurWorld>(capacity);
            },
            {}};
}

}  // namespace ouro::bench
