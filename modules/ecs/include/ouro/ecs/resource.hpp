#pragma once

#include <ouro/ecs/detail/resource_cell.hpp>

#include <type_traits>

namespace ouro {

// A resource of the world as a parameter of a system: Res<const Time> reads it, Res<Score> writes it. Each
// access to one that is written declares it, and counts as a change.
//
//     void score(Query<const Hit&> hits, Res<Score> score) { score->points += hits.count(); }
template <class T>
class Res {
    using Value = std::remove_const_t<T>;

public:
    // Requires: the world has it, or it is only read and was looked for.
    explicit Res(detail::WorldCore& core) noexcept
        : core_(&core), value_(const_cast<T*>(detail::known_resource<Value>(core))) {
        OURO_DEBUG_ASSERT(std::is_const_v<T> || value_ != detail::zero_resource<Value>(),
                          "the resource is in the world");
    }

    [[nodiscard]] T& operator*() const noexcept {
        if constexpr (!std::is_const_v<T>) detail::declare_resource(*core_, *value_);
        return *value_;
    }
    [[nodiscard]] T* operator->() const noexcept { return &**this; }
    // Reads, whatever it is.
    [[nodiscard]] const Value& get() const noexcept { return *value_; }

    // Whether it was written in this tick or in the one before; see Changed.
    [[nodiscard]] bool is_changed() const noexcept {
        const ComponentId id = core_->id_of<Value>();
        return id != kNoComponent && core_->now() - core_->component(id).changed_tick <= 1;
    }

private:
    detail::WorldCore* core_;
    T* value_;
};

}  // namespace ouro
