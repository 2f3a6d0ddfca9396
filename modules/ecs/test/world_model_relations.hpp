#pragma once

#include "world_model_run.hpp"

#include <string_view>

namespace ouro::testing_support {

// Relations and names.
class RelationOperations {
public:
    explicit RelationOperations(ModelRun& run) : run_(run) {}

    void relate_two() {
        const Entity source = run_.pick();
        const Entity to = run_.one_in(50) ? source : run_.pick();
        with_type<ModelRelations>(run_.below(kRelations), [&]<class R>() { relate_one<R>(source, to); });
        run_.compare(source);
        run_.compare(to);
    }
    void unrelate_one() {
        const Entity source = run_.pick();
        with_type<ModelRelations>(run_.below(kRelations), [&]<class R>() {
            const Status status = unrelate<R>(run_.world(), source);
            ModelEntity* const own = model().find(source);
            if (own == nullptr) {
                run_.expect(status == Status::stale_handle, "unrelate of nothing", source);
                return;
            }
            const bool is_there = !own->links[kRelationOf<R>].target.is_null();
            run_.expect(status == (is_there ? Status::ok : Status::not_found), "unrelate", source);
            model().unlink(kRelationOf<R>, *own);
        });
        run_.compare(source);
    }

    void name_one() {
        const Entity entity = run_.pick();
        if (run_.one_in(20)) return misname(entity);
        const std::uint32_t name = 1 + run_.below(kNames - 1);
        const Status status = set_name(run_.world(), entity, run_.text_of_name(name));
        ModelEntity* const own = model().find(entity);
        if (own == nullptr) {
            run_.expect(status == Status::stale_handle, "a name for nothing", entity);
        } else if (const Entity owner = model().names[name]; !owner.is_null() && owner != entity) {
            run_.expect(status == Status::address_in_use, "a name that is another's", entity);
        } else if (run_.succeeds(status, "set_name", entity)) {
            model().names[own->name] = {};
            model().names[name] = entity;
            own->name = name;
        }
        run_.expect(find_named(run_.world(), run_.text_of_name(name)) == model().names[name], "find_named");
        run_.compare(entity);
    }
    void unname_one() {
        const Entity entity = run_.pick();
        const Status status = clear_name(run_.world(), entity);
        ModelEntity* const own = model().find(entity);
        if (own == nullptr) {
            run_.expect(status == Status::stale_handle, "clear_name of nothing", entity);
        } else {
            run_.expect(status == (own->name == 0 ? Status::not_found : Status::ok), "clear_name", entity);
            model().names[own->name] = {};
            own->name = 0;
        }
        run_.compare(entity);
    }

private:
    WorldModel& model() { return run_.model(); }

    template <class R>
    void relate_one(Entity source, Entity to) {
        constexpr unsigned kRelation = kRelationOf<R>;
        const Status status = relate<R>(run_.world(), source, to);
        ModelEntity* const own = model().find(source);
        ModelEntity* const other = model().find(to);
        if (own == nullptr || other == nullptr) {
            run_.expect(status == Status::stale_handle, "relate of nothing", source);
        } else if (own == other ||
                   (!kRelationOptions<R>.allows_cycles && model().leads_to(kRelation, to, source))) {
            ++run_.counts().circles;
            // Where there is no room for the relation itself, that may be said first.
            run_.expect(status == Status::bad_argument ||
                            (run_.shape().is_tight && status == Status::capacity_exhausted),
                        "a circle", source);
        } else if (run_.succeeds(status, "relate", source)) {
            model().link(kRelation, *own, *other);
        }
    }
    void misname(Entity entity) {
        const std::string_view name =
            run_.one_in(2) ? "" : "a name that is longer than names of entities can be";
        const Status status = set_name(run_.world(), entity, name);
        const bool is_there = model().find(entity) != nullptr;
        run_.expect(status == (is_there ? Status::bad_argument : Status::stale_handle), "a bad name", entity);
        run_.expect(find_named(run_.world(), name).is_null(), "find_named of nothing");
        run_.compare(entity);
    }

    ModelRun& run_;
};

}  // namespace ouro::testing_support
