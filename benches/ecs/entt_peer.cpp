#include "ecs/ecs_peers.hpp"
#include "os/two_threads.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <type_traits>

#include <entt/entt.hpp>

namespace ouro::bench {
namespace {

using namespace entt::literals;

// Plain values one after the other, in a buffer that is large enough.
class ByteWriter {
public:
    explicit ByteWriter(std::byte* at) : at_(at) {}

    template <class T>
    void operator()(const T& value) {
        std::memcpy(at_, &value, sizeof(T));
        at_ += sizeof(T);
    }

private:
    std::byte* at_;
};

class ByteReader {
public:
    explicit ByteReader(const std::byte* at) : at_(at) {}

    template <class T>
    void operator()(T& value) {
        std::memcpy(&value, at_, sizeof(T));
        at_ += sizeof(T);
    }

private:
    const std::byte* at_;
};

class EnttWorld : public EcsWorld {
public:
    explicit EnttWorld(std::uint32_t capacity) { ids_.reserve(capacity); }

    void populate(Population population, const EntityRows& rows) override {
        for (std::uint32_t i = 0; i < rows.size(); ++i) {
            const entt::entity id = registry_.create();
            registry_.emplace<Position>(id, rows.positions[i]);
            registry_.emplace<Velocity>(id, rows.velocities[i]);
            if (has_scale(population)) registry_.emplace<Scale>(id, rows.scales[i]);
            if (population == Population::quads) registry_.emplace<Vitality>(id, rows.vitalities[i]);
            for_each_trait(trait_bits(population, i), [&](const auto& trait) {
                registry_.emplace<std::remove_cvref_t<decltype(trait)>>(id, trait);
            });
            ids_.push_back(id);
        }
    }
    void rewind() override {
        registry_.view<Position>().each([](Position& position) { position = {}; });
    }
    std::uint64_t checksum() override {
        std::uint64_t sum = 0;
        registry_.view<const Position>().each([&](const Position& position) { sum += sum_of(position); });
        return sum;
    }

    void create_each(const EntityRows& rows) override {
        for (std::uint32_t i = 0; i < rows.size(); ++i) {
            const entt::entity id = registry_.create();
            registry_.emplace<Position>(id, rows.positions[i]);
            registry_.emplace<Velocity>(id, rows.velocities[i]);
            ids_.push_back(id);
        }
    }
    void create_bulk(const EntityRows& rows, bool four) override {
        ids_.resize(rows.size());
        registry_.create(ids_.begin(), ids_.end());
        registry_.insert<Position>(ids_.begin(), ids_.end(), rows.positions.begin());
        registry_.insert<Velocity>(ids_.begin(), ids_.end(), rows.velocities.begin());
        if (!four) return;
        registry_.insert<Scale>(ids_.begin(), ids_.end(), rows.scales.begin());
        registry_.insert<Vitality>(ids_.begin(), ids_.end(), rows.vitalities.begin());
    }
    void destroy_each() override {
        for (const entt::entity id : ids_)
            registry_.destroy(id);
        ids_.clear();
    }
    void destroy_bulk() override {
        registry_.destroy(ids_.begin(), ids_.end());
        ids_.clear();
    }

    void integrate(unsigned times) override {
        for (unsigned i = 0; i < times; ++i)
            registry_.view<Position, const Velocity>().each(
                [](Position& position, const Velocity& velocity) { move(position, velocity); });
    }
    void integrate_scaled(unsigned times) override {
        for (unsigned i = 0; i < times; ++i)
            registry_.view<Position, const Velocity, const Scale>().each(
                [](Position& position, const Velocity& velocity, const Scale& scale) {
                    move_scaled(position, velocity, scale);
                });
    }
    void integrate_on_two_threads(unsigned times) override {
        if (!second_) second_.emplace();
        const auto view = registry_.view<Position, const Velocity>();
        const std::function<void(int)> half = [&](int part) {
            const auto* leading = view.handle();
            const auto middle = leading->begin() + static_cast<std::ptrdiff_t>(leading->size() / 2);
            const auto begin = part == 0 ? leading->begin() : middle;
            const auto end = part == 0 ? middle : leading->end();
            std::for_each(begin, end, [&](entt::entity id) {
                if (!view.contains(id)) return;
                move(view.get<Position>(id), view.get<const Velocity>(id));
            });
        };
        for (unsigned i = 0; i < times; ++i)
            second_->run_both(half);
    }

    std::uint64_t get(std::span<const std::uint32_t> order) override {
        std::uint64_t sum = 0;
        for (const std::uint32_t entity : order)
            sum += sum_of(std::as_const(registry_).get<Position>(ids_[entity]));
        return sum;
    }

    // It has but one way.
    void add(Change) override {
        for (const entt::entity id : ids_)
            registry_.emplace<Poison>(id, 1U, 2U);
    }
    void remove(Change) override {
        for (const entt::entity id : ids_)
            registry_.remove<Poison>(id);
    }
    std::uint64_t count_with(Change) override { return registry_.view<Poison>().size(); }

    void touch(std::span<const std::uint32_t> entities) override {
        (void)changes();
        for (const std::uint32_t entity : entities)
            registry_.patch<Position>(ids_[entity], [](Position& position) { position = {1, 1}; });
    }
    std::uint64_t sum_changed() override {
        std::uint64_t sum = 0;
        for (const entt::entity id : changes())
            sum += static_cast<std::uint64_t>(registry_.get<Position>(id).x);
        return sum;
    }
    void settle() override { changes().clear(); }

    void add_deferred() override { lacking("deferred"); }
    void destroy_deferred() override { lacking("deferred"); }
    void spawn_deferred(const EntityRows&) override { lacking("deferred"); }

    void prepare_save() override {
        constexpr std::size_t kBytesOfRow =
            5 * sizeof(entt::entity) + sizeof(Position) + sizeof(Velocity) + sizeof(Scale) + sizeof(Vitality);
        saved_.resize(ids_.size() * kBytesOfRow + 4096);
    }
    void save() override {
        ByteWriter writer(saved_.data());
        entt::snapshot{registry_}
            .get<entt::entity>(writer)
            .get<Position>(writer)
            .get<Velocity>(writer)
            .get<Scale>(writer)
            .get<Vitality>(writer);
    }
    // It can only be loaded into a registry that is empty.
    void spoil() override { registry_ = entt::registry(); }
    void restore() override {
        ByteReader reader(saved_.data());
        entt::snapshot_loader{registry_}
            .get<entt::entity>(reader)
            .get<Position>(reader)
            .get<Velocity>(reader)
            .get<Scale>(reader)
            .get<Vitality>(reader)
            .orphans();
    }

protected:
    entt::registry& registry() noexcept { return registry_; }

private:
    using Changes = std::remove_reference_t<decltype(std::declval<entt::registry&>().storage<entt::reactive>(
        "changed"_hs))>;

    Changes& changes() {
        Changes& storage = registry_.storage<entt::reactive>("changed"_hs);
        if (!observes_) storage.on_update<Position>();
        observes_ = true;
        return storage;
    }

    entt::registry registry_;
    std::vector<entt::entity> ids_;
    std::vector<std::byte> saved_;
    std::optional<SecondThread> second_;
    bool observes_ = false;
};

class EnttGroupWorld final : public EnttWorld {
public:
    explicit EnttGroupWorld(std::uint32_t capacity) : EnttWorld(capacity) { (void)group(); }

    void integrate(unsigned times) override {
        auto owned = group();
        for (unsigned i = 0; i < times; ++i)
            owned.each([](Position& position, const Velocity& velocity) { move(position, velocity); });
    }

private:
    auto group() -> decltype(std::declval<entt::registry&>().group<Position, Velocity>()) {
        return registry().group<Position, Velocity>();
    }
};

template <class World>
std::unique_ptr<EcsWorld> make(std::uint32_t capacity) {
    return std::make_unique<World>(capacity);
}

}  // namespace

EcsCandidate entt_peer() {
    return {"EnTT",
            ENTT_VERSION,
            make<EnttWorld>,
            {Feature::deferred_changes, Feature::deferred_spawns, Feature::moved}};
}

EcsCandidate entt_group_peer() {
    return {"EnTT group", ENTT_VERSION, make<EnttGroupWorld>};
}

}  // namespace ouro::bench
