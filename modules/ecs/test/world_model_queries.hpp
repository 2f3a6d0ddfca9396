#pragma once

#include "world_model_run.hpp"

#include <ouro/ecs/batches.hpp>
#include <ouro/ecs/query.hpp>
#include <ouro/jobs/job_pool.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ouro::testing_support {

// What terms of queries ask for, in bits of kinds.
template <class... Ts>
inline constexpr std::uint32_t kKindBits = (0U | ... | kBitOf<Ts>);

// Whole queries: those that read are compared, those that write are repeated in the model.
class QueryOperations {
public:
    QueryOperations(ModelRun& run, JobPool& pool) : run_(run), pool_(pool) {}

    void read() {
        switch (run_.below(7)) {
            case 0:
                return read_columns();
            case 1:
                return read_chunks();
            case 2:
                return read_optional();
            case 3:
                return read_sparse();
            case 4:
                return read_joined();
            case 5:
                return read_prefabs();
            default:
                return visit_one();
        }
    }

    void write() {
        switch (run_.below(6)) {
            case 0:
                kept(writer_).each([](Force& force) { advance(force); });
                return advance_all<Force>(kKindBits<Force>, kKindBits<Still>);
            case 1:
                Query<Spot&, const Alarm&>(world()).chunks([](std::span<Spot> spots, std::span<const Alarm>) {
                    for (Spot& spot : spots)
                        advance(spot);
                });
                return advance_all<Spot>(kKindBits<Spot, Alarm>, 0);
            case 2:
                return write_some();
            case 3:
                Query<Flame&, Optional<Ward&>>(world()).each([](Flame& flame, Ward* ward) {
                    advance(flame);
                    if (ward != nullptr) advance(*ward);
                });
                advance_all<Ward>(kKindBits<Flame, Ward>, 0);
                return advance_all<Flame>(kKindBits<Flame>, 0);
            case 4:
                Query<Mite&, Without<Loud>>(world()).parallel_each(pool_, [](Mite& mite) { advance(mite); });
                return advance_all<Mite>(kKindBits<Mite>, kKindBits<Loud>);
            default:
                Query<Gene&, With<Alarm>, Without<Daze>>(world()).parallel_each(
                    pool_, [](Gene& gene) { advance(gene); });
                return advance_all<Gene>(kKindBits<Gene, Alarm>, kKindBits<Daze>);
        }
    }

    // The world is another object from now on.
    void forget_kept() {
        reader_.reset();
        writer_.reset();
    }

    // What counts as changed: more than was, perhaps, and never less.
    void compare_changes() {
        each_type<ModelKinds>([&]<class T>() {
            if constexpr (!kIsTag<T>) compare_changes_of<T>();
        });
    }
    // Nobody has written for two ticks.
    void expect_no_changes() {
        each_type<ModelKinds>([&]<class T>() {
            if constexpr (!kIsTag<T>)
                run_.expect(Query<Entity, Changed<T>>(world()).count() == 0, "a change in quiet ticks");
        });
    }

    // --- batches by query
    void destroy_by_query() {
        switch (run_.below(4)) {
            case 0:
                return destroy_those(Query<With<Loud>, With<Mite>>(world()), kKindBits<Loud, Mite>, 0);
            case 1:
                return destroy_those(Query<const Alarm&, const Gene&, Without<Still>>(world()),
                                     kKindBits<Alarm, Gene>, kKindBits<Still>);
            case 2:
                return destroy_those(Query<const Scar&, With<Flame>>(world()), kKindBits<Scar, Flame>, 0);
            default:
                return destroy_those(Query<With<Ward>, Without<Spot>, Without<Alarm>>(world()),
                                     kKindBits<Ward>, kKindBits<Spot, Alarm>);
        }
    }
    void change_by_query() {
        const std::uint32_t number = run_.number();
        switch (run_.below(6)) {
            case 0:
                return add_all<Force>(Query<With<Mite>, Without<Alarm>>(world()), kKindBits<Mite>,
                                      kKindBits<Alarm>, number);
            case 1:
                return add_all<Still>(Query<const Flame&>(world()), kKindBits<Flame>, 0, number);
            case 2:
                return add_all<Flame>(Query<With<Gene>, Without<Loud>>(world()), kKindBits<Gene>,
                                      kKindBits<Loud>, number);
            case 3:
                return remove_all<Still>(Query<With<Spot>>(world()), kKindBits<Spot>);
            case 4:
                return remove_all<Alarm>(Query<const Alarm&, With<Loud>>(world()), kKindBits<Alarm, Loud>);
            default:
                return remove_all<Daze>(Query<With<Daze>, With<Still>>(world()), kKindBits<Daze, Still>);
        }
    }

private:
    using Reader = Query<Entity, const Spot&, Without<Still>>;
    using Writer = Query<Force&, Without<Still>>;

    // Over rollbacks and loads, after which components may have other numbers.
    template <class Kept>
    const Kept& kept(std::optional<Kept>& query) {
        if (!query) query.emplace(world());
        return *query;
    }

    World& world() { return run_.world(); }
    WorldModel& model() { return run_.model(); }

    template <class T>
    static void advance(T& value) {
        value = value_of<T>(next_of<T>(number_in(value)));
    }
    // Where it shows `all` and has `also`, whether that is switched off or not.
    template <class T>
    void advance_all(std::uint32_t all, std::uint32_t none) {
        model().each([&](ModelEntity& own) {
            if (!own.shows(all, none | kBitOf<Prefab>)) return;
            own.set_value(kKindOf<T>, next_of<T>(own.value<T>()), model().tick);
        });
    }
    void write_some() {
        Query<Mut<Ward>, const Spot&, Entity>(world()).each([](Mut<Ward> ward, const Spot& spot, Entity) {
            if (number_in(spot) % 3 != 0) ward = value_of<Ward>(next_of<Ward>(number_in(*ward)));
        });
        model().each([&](ModelEntity& own) {
            if (!own.shows(kKindBits<Ward, Spot>, kBitOf<Prefab>) || own.value<Spot>() % 3 == 0) return;
            own.set_value(kKindOf<Ward>, next_of<Ward>(own.value<Ward>()), model().tick);
        });
    }

    // --- what a query visits is what the model says, each once
    void begin_visits() {
        ++round_;
        visited_ = 0;
        seen_.resize(std::max(seen_.size(), model().slots.size()));
    }
    ModelEntity* visit(Entity entity) {
        ModelEntity* const own = model().find(entity);
        if (!run_.expect(own != nullptr, "a query visits what is not there", entity)) return nullptr;
        std::uint32_t& seen = seen_[static_cast<std::size_t>(entity.index())];
        if (!run_.expect(seen != round_, "a query visits an entity twice", entity)) return nullptr;
        seen = round_;
        ++visited_;
        return own;
    }
    [[nodiscard]] bool was_seen(const ModelEntity& own) const {
        return seen_[static_cast<std::size_t>(own.id.index())] == round_;
    }
    template <class T>
    void expect_value(const ModelEntity& own, const T& value) {
        run_.expect(is_value_of(value, own.value<T>()), "a value in a query", own.id);
    }
    void end_visits(std::uint32_t all, std::uint32_t none, std::uint32_t counted) {
        const std::uint32_t expected =
            model().count([&](const ModelEntity& own) { return own.shows(all, none); });
        run_.expect(visited_ == expected, "what a query visits");
        run_.expect(counted == expected, "what a query counts");
    }

    void read_columns() {
        begin_visits();
        const Reader& query = kept(reader_);
        query.each([&](Entity entity, const Spot& spot) {
            if (const ModelEntity* const own = visit(entity)) expect_value(*own, spot);
        });
        end_visits(kKindBits<Spot>, kKindBits<Still, Prefab>, query.count());
        const Entity first = query.first();
        run_.expect(first.is_null() == (visited_ == 0), "the first of a query", first);
    }
    void read_chunks() {
        begin_visits();
        const Query<const Alarm&, Entity, With<Mite>, Optional<const Ward&>> query(world());
        query.chunks([&](std::span<const Alarm> alarms, std::span<const Entity> entities,
                         std::span<const Ward> wards) {
            for (std::size_t i = 0; i < entities.size(); ++i) {
                const ModelEntity* const own = visit(entities[i]);
                if (own == nullptr) continue;
                expect_value(*own, alarms[i]);
                run_.expect(wards.empty() != own->shows(kBitOf<Ward>), "an optional span", own->id);
                if (!wards.empty()) expect_value(*own, wards[i]);
            }
        });
        end_visits(kKindBits<Alarm, Mite>, kBitOf<Prefab>, query.count());
    }
    void read_optional() {
        begin_visits();
        const Query<Entity, Optional<const Ward&>, Optional<const Flame&>, With<Force>> query(world());
        query.each([&](Entity entity, const Ward* ward, const Flame* flame) {
            const ModelEntity* const own = visit(entity);
            if (own == nullptr) return;
            run_.expect((ward != nullptr) == own->shows(kBitOf<Ward>), "an optional column", entity);
            run_.expect((flame != nullptr) == own->has<Flame>(), "an optional sparse one", entity);
            if (ward != nullptr) expect_value(*own, *ward);
            if (flame != nullptr) expect_value(*own, *flame);
        });
        end_visits(kKindBits<Force>, kBitOf<Prefab>, query.count());
    }
    void read_sparse() {
        begin_visits();
        const Query<const Flame&, Entity, Without<Scar>> query(world());
        query.each([&](const Flame& flame, Entity entity) {
            if (const ModelEntity* const own = visit(entity)) expect_value(*own, flame);
        });
        end_visits(kKindBits<Flame>, kKindBits<Scar, Prefab>, query.count());
    }
    void read_joined() {
        begin_visits();
        const Query<Entity, const Daze&, const Flame&, const Alarm&, Without<Loud>> query(world());
        query.each([&](Entity entity, const Daze& daze, const Flame& flame, const Alarm& alarm) {
            const ModelEntity* const own = visit(entity);
            if (own == nullptr) return;
            expect_value(*own, daze);
            expect_value(*own, flame);
            expect_value(*own, alarm);
        });
        end_visits(kKindBits<Daze, Flame, Alarm>, kKindBits<Loud, Prefab>, query.count());
    }
    void read_prefabs() {
        begin_visits();
        const Query<Entity, With<Prefab>> query(world());
        query.each([&](Entity entity) { visit(entity); });
        end_visits(kKindBits<Prefab>, 0, query.count());
    }
    void visit_one() {
        const Entity entity = run_.pick();
        const ModelEntity* const own = model().find(entity);
        const bool is_there = own != nullptr && own->shows(kKindBits<Gene, Alarm>, kKindBits<Still, Prefab>);
        const Query<const Gene&, With<Alarm>, Without<Still>> query(world());
        run_.expect(query.has(entity) == is_there, "Query::has", entity);
        const bool was_visited = query.visit(entity, [&](const Gene& gene) {
            if (is_there) expect_value(*own, gene);
        });
        run_.expect(was_visited == is_there, "Query::visit", entity);
    }

    template <class T>
    void compare_changes_of() {
        begin_visits();
        Query<Entity, Changed<T>>(world()).each([&](Entity entity) { visit(entity); });
        expect_seen<T>(1);
        begin_visits();
        Query<Entity, ChangedNow<T>>(world()).each([&](Entity entity) { visit(entity); });
        expect_seen<T>(0);
        if constexpr (!kIsSparse<T>) compare_since<T>();
    }
    template <class T>
    void compare_since() {
        const std::uint32_t ticks = run_.some_age();
        const std::uint32_t since = model().tick - ticks;
        begin_visits();
        const Query<Entity, const T&> query(world());
        query.template each_changed_since<T>(since, [&](Entity entity, const T& value) {
            if (const ModelEntity* const own = visit(entity)) expect_value(*own, value);
        });
        run_.expect(query.template count_changed_since<T>(since) == visited_, "what since counts");
        expect_seen<T>(ticks);
    }
    template <class T>
    void expect_seen(std::uint32_t ticks) {
        model().each([&](const ModelEntity& own) {
            const bool is_visible = own.shows(kBitOf<T>, kBitOf<Prefab>);
            run_.expect(is_visible || !was_seen(own), "Changed of what has none", own.id);
            if (is_visible && model().tick - own.changed[kKindOf<T>] <= ticks)
                run_.expect(was_seen(own), "a change was missed", own.id);
        });
    }

    template <class Those>
    void destroy_those(const Those& those, std::uint32_t all, std::uint32_t none) {
        some_.clear();
        model().each([&](const ModelEntity& own) {
            if (own.shows(all, none | kBitOf<Prefab>)) some_.push_back(own.id);
        });
        // Too many at once would leave little to go on with.
        if (some_.size() > model().live / 4 && !run_.one_in(6)) return;
        const std::uint32_t live = model().live;
        for (const Entity entity : some_)
            model().destroy(entity);
        const std::uint32_t destroyed = destroy_all(those);
        // Those that follow others are not counted, whether they are the query's or not.
        run_.expect(destroyed <= some_.size() && (destroyed != 0) == !some_.empty(), "destroy_all");
        run_.expect(live - model().live >= destroyed, "what destroy_all counts");
        run_.expect(world().stats().entities == model().live, "what is left behind destroy_all");
    }
    template <class T, class Those>
    void add_all(const Those& those, std::uint32_t all, std::uint32_t none, std::uint32_t number) {
        if (!run_.succeeds(add_to_all(those, value_of<T>(number)), "add_to_all")) return;
        model().each([&](ModelEntity& own) {
            if (!own.shows(all, none | kBitOf<Prefab>) || own.has<T>()) return;
            if (!kIsSparse<T>) own.move(model().tick);
            own.kinds |= kBitOf<T>;
            own.set_value(kKindOf<T>, kept_of<T>(number), model().tick);
        });
    }
    template <class T, class Those>
    void remove_all(const Those& those, std::uint32_t all) {
        if (!run_.succeeds(remove_from_all<T>(those), "remove_from_all")) return;
        model().each([&](ModelEntity& own) {
            if (!own.shows(all, kBitOf<Prefab>) || !own.has<T>()) return;
            own.kinds &= ~kBitOf<T>;
            own.off &= ~kBitOf<T>;
            if (!kIsSparse<T>) own.move(model().tick);
        });
    }

    ModelRun& run_;
    JobPool& pool_;
    std::vector<std::uint32_t> seen_;
    std::uint32_t round_ = 0;
    std::uint32_t visited_ = 0;
    std::vector<Entity> some_;
    std::optional<Reader> reader_;
    std::optional<Writer> writer_;
};

}  // namespace ouro::testing_support
