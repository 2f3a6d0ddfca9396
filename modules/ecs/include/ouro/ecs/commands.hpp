#pragma once

#include <ouro/base/assert.hpp>
#include <ouro/ecs/detail/command_record.hpp>
#include <ouro/ecs/world.hpp>

#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

namespace ouro {

// An entity that will be spawned at the barrier. Until then it can be named in further commands, of the same
// system and after its spawn in the order of the merge; later it names nothing (assert in checked builds).
class PendingEntity {
public:
    constexpr PendingEntity() noexcept = default;

    // What it became: for functions given to Commands::call. Null while it is pending, and when it could not
    // be spawned.
    [[nodiscard]] Entity entity() const noexcept { return record_ == nullptr ? Entity{} : record_->entity; }

private:
    friend class Commands;
    friend class CommandTarget;

    PendingEntity(detail::CommandRecord* record, std::uint32_t epoch) noexcept
        : record_(record), epoch_(epoch) {}

    detail::CommandRecord* record_ = nullptr;
    std::uint32_t epoch_ = 0;
};

// What a command is about.
class CommandTarget {
public:
    CommandTarget(Entity entity) noexcept : entity_(entity) {}
    CommandTarget(const PendingEntity& pending) noexcept
        : spawn_(pending.record_), epoch_(pending.epoch_), is_pending_(true) {}

private:
    friend class Commands;

    detail::CommandRecord* spawn_ = nullptr;
    Entity entity_;
    std::uint32_t epoch_ = 0;
    bool is_pending_ = false;
};

// Structural changes that are made at the next barrier: what a system, or a body of a loop, records instead
// of making them. A small value: copies record into the same place. Without locks; memory is kept from
// barrier to barrier.
//
//     void shoot(Query<const Gun&> guns, Commands commands) {
//         guns.each([&](const Gun& gun) {
//             const PendingEntity bullet = commands.spawn(Position{gun.at}, Velocity{gun.aim});
//             if (gun.burns) commands.add<Fire>(bullet);
//         });
//     }
//
// Barriers apply commands in the order of (system, row, sequence), which is the same whatever threads ran.
// A command on an entity that is gone by then is passed over and counted, and so is the removal of what is
// not there: two systems may destroy the same entity. What the world has no room for is counted as failed,
// and the barrier says so. When there is no room for a command, the barrier applies none at all.
class Commands {
public:
    explicit Commands(detail::CommandStream& stream) noexcept : stream_(&stream) {}

    template <class... Ts>
    PendingEntity spawn(const Ts&... values) noexcept {
        struct Record : detail::CommandRecord {
            explicit Record(const Ts&... given) noexcept : CommandRecord{&make}, values(given...) {}
            static Status make(World& world, detail::CommandRecord& record) noexcept {
                const auto made = std::apply([&](const Ts&... each) { return world.spawn(each...); },
                                             static_cast<Record&>(record).values);
                if (made) record.entity = *made;
                return made.status();
            }
            std::tuple<Ts...> values;
        };
        return {stream_->record<Record>(values...), *stream_->epoch};
    }

    void destroy(CommandTarget target) noexcept {
        record<detail::CommandRecord>(target, [](World& world, detail::CommandRecord& record) noexcept {
            return world.destroy(record.target());
        });
    }
    // Gives it a component, or another value.
    template <class T>
    void add(CommandTarget target, const T& value = {}) noexcept {
        struct Record : detail::CommandRecord {
            explicit Record(const T& given) noexcept : value(given) {}
            T value;
        };
        const auto apply = [](World& world, detail::CommandRecord& record) noexcept {
            return world.add(record.target(), static_cast<Record&>(record).value).status();
        };
        record<Record>(target, apply, value);
    }
    template <class T>
    void remove(CommandTarget target) noexcept {
        record<detail::CommandRecord>(target, [](World& world, detail::CommandRecord& record) noexcept {
            return world.remove<T>(record.target()).status();
        });
    }
    template <class T>
    void disable(CommandTarget target) noexcept {
        static_assert(kComponentOptions<T>.toggles, "its options do not say that it can be switched off");
        record<detail::CommandRecord>(target, [](World& world, detail::CommandRecord& record) noexcept {
            return world.disable<T>(record.target()).status();
        });
    }
    template <class T>
    void enable(CommandTarget target) noexcept {
        static_assert(kComponentOptions<T>.toggles, "its options do not say that it can be switched off");
        record<detail::CommandRecord>(target, [](World& world, detail::CommandRecord& record) noexcept {
            return world.enable<T>(record.target()).status();
        });
    }

    // Calls fn(World&) in its turn, with the world for itself: for what needs the names of pending entities.
    //
    //     commands.call([hand, sword](World& world) { world.edit<Hand>(hand)->holds = sword.entity(); });
    //
    // It returns nothing, or the Status that the barrier counts: stale_handle and not_found are passed over.
    template <class Fn>
    void call(const Fn& fn) noexcept {
        static_assert(std::is_invocable_v<const Fn&, World&>, "it is called with the world");
        static_assert(std::is_trivially_copyable_v<Fn> && std::is_trivially_destructible_v<Fn>,
                      "it is kept as bytes: capture plain values");
        struct Record : detail::CommandRecord {
            explicit Record(const Fn& given) noexcept : CommandRecord{&run}, fn(given) {}
            static Status run(World& world, detail::CommandRecord& record) noexcept {
                const Fn& own = static_cast<Record&>(record).fn;
                if constexpr (std::is_same_v<std::invoke_result_t<const Fn&, World&>, Status>)
                    return own(world);
                else
                    own(world);
                return Status::ok;
            }
            Fn fn;
        };
        stream_->record<Record>(fn);
    }

    [[nodiscard]] detail::CommandStream& stream() const noexcept { return *stream_; }

private:
    void expect_pending(const CommandTarget& target) const noexcept {
        if constexpr (OURO_ASSERT_LEVEL >= 1) {
            // Its record is gone, and with it what became of it.
            if (target.spawn_ != nullptr && target.epoch_ != *stream_->epoch) detail::named_after_barrier();
        }
    }

    template <class Record, class... Args>
    void record(const CommandTarget& target, detail::CommandRecord::Apply apply,
                const Args&... args) noexcept {
        expect_pending(target);
        // Its spawn could not be recorded, and the barrier will say so.
        if (target.is_pending_ && target.spawn_ == nullptr) [[unlikely]]
            return stream_->pass_over<Args...>();
        // In place: a copy would read as one what was just written in parts, and wait for it.
        Record* const made = stream_->record<Record>(args...);
        if (made == nullptr) [[unlikely]]
            return;
        made->apply = apply;
        made->spawn = target.spawn_;
        made->entity = target.entity_;
    }

    detail::CommandStream* stream_;
};

}  // namespace ouro
