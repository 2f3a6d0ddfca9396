#pragma once

#include <ouro/ecs/commands.hpp>
#include <ouro/ecs/detail/system_access.hpp>
#include <ouro/ecs/query.hpp>
#include <ouro/ecs/resource.hpp>
#include <ouro/ecs/world.hpp>
#include <ouro/jobs/job_pool.hpp>

#include <type_traits>
#include <utility>

namespace ouro {

// A parameter of a system that makes structural changes itself, to the entities that match the filters and
// to no others: With<...> and Without<...>. Nothing that visits or looks up entities runs beside it, nor what
// uses resources, which are found by numbers that a new type changes; systems that only record commands do.
//
//     void expire(Exclusive<With<Bullet>> bullets) {
//         bullets.destroy_if<const Bullet&>([](const Bullet& bullet) { return bullet.ticks_left == 0; });
//     }
template <class... Filters>
class Exclusive {
public:
    explicit Exclusive(World& world) noexcept : world_(&world) {}

    // As those of World; bad_argument when the entity does not match, or would not afterwards.
    template <class... Ts>
    Expected<Entity> spawn(const Ts&... values) noexcept {
        static_assert((accepts<Filters, Ts...>() && ...), "what is spawned matches the filters");
        return world_->spawn(values...);
    }
    Status destroy(Entity entity) noexcept {
        if (!world_->is_alive(entity)) return Status::stale_handle;
        return matches(entity) ? world_->destroy(entity) : Status::bad_argument;
    }
    template <class T>
    Expected<void> add(Entity entity, const T& value = {}) noexcept {
        static_assert(!(std::is_same_v<Filters, Without<T>> || ...), "the entity would not match any more");
        if (world_->is_alive(entity) && !matches(entity)) return Status::bad_argument;
        return world_->add(entity, value);
    }
    template <class T>
    Expected<void> remove(Entity entity) noexcept {
        static_assert(!(std::is_same_v<Filters, With<T>> || ...), "the entity would not match any more");
        if (world_->is_alive(entity) && !matches(entity)) return Status::bad_argument;
        return world_->remove<T>(entity);
    }
    [[nodiscard]] bool matches(Entity entity) const noexcept {
        return Query<Filters...>(world_->core()).has(entity);
    }

    // What the filters let through, with these terms.
    template <class... Terms>
    [[nodiscard]] Query<Terms..., Filters...> query() const noexcept {
        return Query<Terms..., Filters...>(world_->core());
    }
    // Destroys those for which the predicate, called as by Query::each, says so. Returns how many. The order
    // of the others changes as by single calls of destroy, from the last entity to the first.
    template <class... Terms, class Predicate>
    std::uint32_t destroy_if(Predicate&& predicate) noexcept;

private:
    template <class Filter, class... Ts>
    static consteval bool accepts() noexcept {
        bool is_there = (std::is_same_v<Filter, With<Ts>> || ... || false);
        bool is_excluded = (std::is_same_v<Filter, Without<Ts>> || ... || false);
        return detail::TermTraits<Filter>::kRole == detail::TermRole::excludes ? !is_excluded : is_there;
    }

    World* world_;
};

namespace detail {

// What a system is run with.
struct SystemContext {
    World* world = nullptr;
    JobPool* pool = nullptr;
    CommandStream* commands = nullptr;
};

// How a type of parameter is declared, prepared before its stage while nothing runs, and made for a call;
// and whether it only reads.
template <class Param>
struct SystemParam {
    // For no type at all; it goes on so that nothing but SystemParams has something to say.
    static constexpr bool kIsUnknown = true;
    static constexpr bool kOnlyReads = true;
    static void declare(SystemAccess& system) noexcept;
    static Status prepare(World& world) noexcept;
    static Param& make(const SystemContext& context) noexcept;
};

template <class... Terms>
struct SystemParam<Query<Terms...>> {
    static constexpr bool kOnlyReads =
        ((TermTraits<Terms>::kRole != TermRole::writes && TermTraits<Terms>::kRole != TermRole::may_write) &&
         ...);
    static void declare(SystemAccess& system) noexcept {
        system.add(access_of<false, Terms...>());
        if constexpr ((kIsSparseTerm<Terms> || ...)) system.add(access_of<true, Terms...>());
    }
    // A component that the world cannot have is told here, since the query itself could only give up.
    static Status prepare(World& world) noexcept {
        Status status = Status::ok;
        (void)((status = know<typename TermTraits<Terms>::Component>(world), status == Status::ok) && ...);
        return status == Status::ok ? Query<Terms...>(world.core()).reserve_marks() : status;
    }
    template <class T>
    static Status know(World& world) noexcept {
        if constexpr (std::is_same_v<T, Entity>)
            return Status::ok;
        else
            return world.core().known_component<T>().status();
    }
    static Query<Terms...> make(const SystemContext& context) noexcept {
        return Query<Terms...>(context.world->core());
    }
};

template <class T>
struct SystemParam<Res<T>> {
    using Value = std::remove_const_t<T>;
    static constexpr bool kOnlyReads = std::is_const_v<T>;
    static void declare(SystemAccess& system) noexcept {
        Access access;
        (std::is_const_v<T> ? access.reads : access.writes).template add<Value>();
        system.add(access);
    }
    static Status prepare(World& world) noexcept {
        if (find_resource<Value>(world.core()) != nullptr) return Status::ok;
        return std::is_const_v<T> ? look_for_resource<Value>(world.core())
                                  : make_resource<Value>(world.core());
    }
    static Res<T> make(const SystemContext& context) noexcept { return Res<T>(context.world->core()); }
};

template <>
struct SystemParam<Commands> {
    static constexpr bool kOnlyReads = false;
    static void declare(SystemAccess& system) noexcept { system.records_commands = true; }
    static Status prepare(World& /*world*/) noexcept { return Status::ok; }
    static Commands make(const SystemContext& context) noexcept { return Commands(*context.commands); }
};

template <>
struct SystemParam<JobPool> {
    static constexpr bool kOnlyReads = true;
    static void declare(SystemAccess& /*system*/) noexcept {}
    static Status prepare(World& /*world*/) noexcept { return Status::ok; }
    static JobPool& make(const SystemContext& context) noexcept { return *context.pool; }
};

template <>
struct SystemParam<World> {
    static constexpr bool kOnlyReads = false;
    static void declare(SystemAccess& system) noexcept { system.is_exclusive = true; }
    static Status prepare(World& /*world*/) noexcept { return Status::ok; }
    static World& make(const SystemContext& context) noexcept { return *context.world; }
};

template <class... Filters>
struct SystemParam<Exclusive<Filters...>> {
    static constexpr bool kOnlyReads = false;
    static_assert(((TermTraits<Filters>::kRole == TermRole::filters ||
                    TermTraits<Filters>::kRole == TermRole::excludes) &&
                   ...),
                  "exclusive access is filtered by With<...> and Without<...>");
    static void declare(SystemAccess& system) noexcept { system.changes_structure = true; }
    static Status prepare(World& /*world*/) noexcept { return Status::ok; }
    static Exclusive<Filters...> make(const SystemContext& context) noexcept {
        return Exclusive<Filters...>(*context.world);
    }
};

// What a function asks for, and how it is called.
template <class... Args>
struct SystemParams {
    static_assert((!requires { SystemParam<std::remove_cvref_t<Args>>::kIsUnknown; } && ...),
                  "a system's parameters are Query<...>, Res<T>, Res<const T>, Commands, JobPool&, "
                  "Exclusive<...> and World&");
    // What is made for a call is handed over as a value; the world and the pool are there already.
    template <class Arg>
    static constexpr bool kIsHandedOver = [] {
        using Made = decltype(SystemParam<std::remove_cvref_t<Arg>>::make(std::declval<SystemContext&>()));
        if constexpr (std::is_reference_v<Made>)
            return std::is_lvalue_reference_v<Arg>;
        else
            return !std::is_lvalue_reference_v<Arg> || std::is_const_v<std::remove_reference_t<Arg>>;
    }();
    template <class Arg>
    static constexpr bool kIsUnknown = requires { SystemParam<std::remove_cvref_t<Arg>>::kIsUnknown; };
    static_assert(((kIsHandedOver<Args> || kIsUnknown<Args>) && ...),
                  "a system takes Query<...>, Res<T>, Commands and Exclusive<...> by value, without &; "
                  "JobPool& and World& by reference");
    static constexpr bool kOnlyReads = (SystemParam<std::remove_cvref_t<Args>>::kOnlyReads && ...);
    static void declare(SystemAccess& system) noexcept {
        (SystemParam<std::remove_cvref_t<Args>>::declare(system), ...);
    }
    static Status prepare(World& world) noexcept {
        Status status = Status::ok;
        (void)((status = SystemParam<std::remove_cvref_t<Args>>::prepare(world), status == Status::ok) &&
               ...);
        return status;
    }
    template <class Fn>
    static decltype(auto) call(Fn& fn, const SystemContext& context) noexcept {
        return fn(argument<Args>(context)...);
    }

private:
    template <class Arg>
    static Arg refused() noexcept;
    template <class Arg>
    static decltype(auto) argument(const SystemContext& context) noexcept {
        if constexpr (kIsHandedOver<Arg> || kIsUnknown<Arg>)
            return SystemParam<std::remove_cvref_t<Arg>>::make(context);
        else
            return refused<Arg>();
    }
};

// Its parameters' types are not known before the call.
template <class Fn>
struct UnknownSignature {
    static_assert(
        sizeof(Fn*) == 0,
        "a system says its access by the types of its parameters: write Query<...> instead of auto, "
        "and give a function or lambda that is not overloaded");
    static constexpr bool kOnlyReads = true;
    static void declare(SystemAccess& system) noexcept;
    static Status prepare(World& world) noexcept;
    static void call(Fn& fn, const SystemContext& context) noexcept;
};

template <class Fn>
struct SystemSignature : UnknownSignature<Fn> {};
template <class Fn>
    requires requires { &Fn::operator(); }
struct SystemSignature<Fn> : SystemSignature<decltype(&Fn::operator())> {};
template <class Result, class... Args>
struct SystemSignature<Result (*)(Args...)> : SystemParams<Args...> {};
template <class Result, class... Args>
struct SystemSignature<Result (*)(Args...) noexcept> : SystemParams<Args...> {};
template <class Result, class Class, class... Args>
struct SystemSignature<Result (Class::*)(Args...)> : SystemParams<Args...> {};
template <class Result, class Class, class... Args>
struct SystemSignature<Result (Class::*)(Args...) const> : SystemParams<Args...> {};
template <class Result, class Class, class... Args>
struct SystemSignature<Result (Class::*)(Args...) noexcept> : SystemParams<Args...> {};
template <class Result, class Class, class... Args>
struct SystemSignature<Result (Class::*)(Args...) const noexcept> : SystemParams<Args...> {};

}  // namespace detail

template <class... Filters>
template <class... Terms, class Predicate>
std::uint32_t Exclusive<Filters...>::destroy_if(Predicate&& predicate) noexcept {
    const Query<Terms..., Filters...> own(world_->core());
    std::uint32_t destroyed = 0;
    // Whatever takes the place of one that is destroyed was looked at already.
    own.each_name_backwards([&](Entity entity) {
        bool is_doomed = false;
        own.visit(entity,
                  [&]<class... Args>(Args&&... args) { is_doomed = predicate(std::forward<Args>(args)...); });
        if (is_doomed && world_->destroy(entity) == Status::ok) ++destroyed;
    });
    return destroyed;
}

}  // namespace ouro
