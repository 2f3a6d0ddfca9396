#pragma once

#include <ouro/base/memory_block.hpp>
#include <ouro/base/status.hpp>
#include <ouro/ecs/component.hpp>
#include <ouro/ecs/entity.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace ouro {

class World;

enum class EventKind : std::uint8_t { added, removed, changed };

namespace detail {

struct Observer {
    using Call = void (*)(const void* fn, World& world, Entity entity, const std::byte* value);

    Call call = nullptr;
    // The function object itself.
    alignas(8) std::array<std::byte, 16> fn{};
    // What it watches, by the number that the process knows its type by; and the id that the world of now has
    // for it, which may be another one, or none, after a rollback or a load.
    std::uint32_t type = 0;
    ComponentId component = kNoComponent;
    EventKind kind = EventKind::added;
};

// What happened to components that somebody observes, in order, until it is delivered; see observers.hpp.
// Outside the image: nothing is kept over a commit, and what belongs to another epoch is dropped.
class EventLog {
public:
    static constexpr std::size_t kMaxObservers = 256;
    // How often observers may cause events that are delivered in the same call.
    static constexpr unsigned kMaxRounds = 64;

    void begin(std::span<Observer> observers, MemoryBlock log) noexcept {
        observers_ = observers;
        log_ = log;
    }

    [[nodiscard]] bool is_watching() const noexcept { return observer_count_ != 0; }
    [[nodiscard]] const ComponentMask& watched(EventKind kind) const noexcept {
        return watched_[static_cast<std::size_t>(kind)];
    }
    // capacity_exhausted when there are too many.
    Status watch(const Observer& observer) noexcept;
    // The registry is another one: these are the ids of types from now on.
    void find_ids(std::span<const ComponentId> component_of_type) noexcept;

    void record(std::uint64_t epoch, EventKind kind, Entity entity, ComponentId id,
                std::span<const std::byte> value = {}) noexcept;
    // busy within a delivery; capacity_exhausted when events were lost since the last one; rate_limited
    // when there are still some after kMaxRounds, which stay for the next call; tick_gone when an observer
    // went back, or ended the tick: what was left of it is dropped.
    Status deliver(std::uint64_t epoch, World& world) noexcept;
    [[nodiscard]] bool has_events(std::uint64_t epoch) const noexcept {
        return epoch_ == epoch && read_ != used_;
    }

private:
    struct Record {
        Entity entity;
        ComponentId component;
        EventKind kind;
        std::uint8_t unused;
        std::uint32_t bytes;
    };
    static_assert(sizeof(Record) == 16);

    void begin_epoch(std::uint64_t epoch) noexcept {
        if (epoch_ == epoch) return;
        epoch_ = epoch;
        used_ = read_ = 0;
        has_lost_ = false;
    }
    // False when one of them left the tick: the rest is not called.
    [[nodiscard]] bool call_observers(const Record& record, World& world) const noexcept;
    [[nodiscard]] bool deliver_round(World& world) noexcept;

    std::span<Observer> observers_;
    std::uint32_t observer_count_ = 0;
    std::array<ComponentMask, 3> watched_{};
    MemoryBlock log_;
    std::size_t used_ = 0;
    std::size_t read_ = 0;
    std::uint64_t epoch_ = 0;
    bool has_lost_ = false;
    bool is_delivering_ = false;
};

}  // namespace detail
}  // namespace ouro
