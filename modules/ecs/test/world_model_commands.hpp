#pragma once

#include "world_model_entities.hpp"

#include <ouro/ecs/schedule.hpp>
#include <ouro/memory/system_allocator.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace ouro::testing_support {

// Systems that record commands, in two stages and on the threads of a pool. What they will record is written
// down before; the model then does the same one after the other, in the order of (system, row, sequence).
class CommandOperations {
public:
    CommandOperations(ModelRun& run, EntityOperations& entities, JobPool& pool)
        : run_(run), entities_(entities), pool_(pool) {
        if (auto memory = SystemAllocator::create({.max_bytes = std::size_t{64} << 20}))
            memory_.emplace(*std::move(memory));
        if (memory_) add_systems(schedule_.emplace(*memory_, ScheduleOptions{.measures = false}));
    }

    void run_systems() {
        if (!run_.expect(schedule_.has_value(), "a schedule")) return;
        spawns_ = !run_.is_crowded();
        for (Script& script : scripts_)
            write(script);
        tally_ = run_.number() | 1;
        rows_.clear();
        Query<Entity, const Force&, With<Mite>>(run_.world()).each([&](Entity self, const Force& force) {
            rows_.emplace_back(self, number_in(force));
        });
        of_rows_.assign(run_.model().slots.size(), {});
        run_.set_in_schedule(true);
        const ScheduleReport report = schedule_->run(run_.world(), pool_);
        run_.set_in_schedule(false);
        if (!run_.expect(report.status == Status::ok && report.commands.failed == 0, "a schedule's run"))
            return;
        applied_ = skipped_ = 0;
        repeat();
        run_.expect(report.commands.applied == applied_, "how many commands were applied");
        run_.expect(report.commands.skipped == skipped_, "how many commands were skipped");
        run_.counts().operations += applied_ + skipped_;
        run_.counts().commands += applied_;
        run_.counts().skipped_commands += skipped_;
        compare();
    }

private:
    enum class Act : std::uint8_t { spawn, spawn_bare, destroy, add, remove, disable, enable, relate };
    struct Command {
        Act act = Act::spawn;
        // Of those that the script spawned before, the one that it is about, plus one; zero: the entity.
        std::uint32_t pending = 0;
        Entity entity;
        Entity other;
        std::uint32_t kind = 0;
        std::uint32_t number = 0;
    };
    struct Script {
        std::vector<Command> commands;
        std::vector<PendingEntity> pending;
        // What the pending ones became.
        std::vector<Entity> made;
    };
    static constexpr std::size_t kLateScript = 3;

    WorldModel& model() { return run_.model(); }

    void add_systems(Schedule& schedule) {
        schedule.add("first", [this](Commands commands) { record(commands, scripts_[0]); });
        schedule.add("moves", [this](Query<Spot&, Without<Still>> spots, Commands commands) {
            spots.each([](Spot& spot) { spot = value_of<Spot>(next_of<Spot>(number_in(spot))); });
            record(commands, scripts_[1]);
        });
        schedule.add(
            "rows", [this](JobPool& pool, Query<Entity, const Force&, With<Mite>> rows, Commands commands) {
                rows.parallel_each(pool, commands, [this](Commands& own, Entity self, const Force& force) {
                    record_row(own, self, number_in(force));
                });
            });
        schedule.add("third", [this](Commands commands, Query<const Spot&> spots) {
            static_cast<void>(spots.count());
            record(commands, scripts_[2]);
        });
        schedule.stage("late");
        schedule.add("late",
                     [this](Res<Tally> tally, Query<Mut<Alarm>, const Mite&> alarms, Commands commands) {
                         *tally = value_of<Tally>(tally_);
                         alarms.each([](Mut<Alarm> alarm, const Mite& mite) {
                             if (mite.bits % 2 == 0)
                                 alarm = value_of<Alarm>(next_of<Alarm>(number_in(*alarm)));
                         });
                         record(commands, scripts_[kLateScript]);
                     });
    }

    // --- what will be recorded
    void write(Script& script) {
        script.commands.clear();
        script.pending.clear();
        script.made.clear();
        const std::uint32_t count = run_.below(20);
        std::uint32_t spawned = 0;
        for (std::uint32_t i = 0; i < count; ++i) {
            Command command;
            command.number = run_.number();
            const std::uint32_t choice = run_.below(10);
            if (choice < 2 && spawns_) {
                command.act = choice == 0 ? Act::spawn : Act::spawn_bare;
                ++spawned;
            } else {
                constexpr std::array kActs = {Act::destroy, Act::add,     Act::add,
                                              Act::remove,  Act::disable, Act::enable};
                command.act = kActs[run_.below(static_cast<std::uint32_t>(kActs.size()))];
                command.kind = run_.below(kKinds);
                if (spawned != 0 && run_.one_in(3)) {
                    command.pending = 1 + run_.below(spawned);
                    if (run_.one_in(3)) command.act = Act::relate;
                }
                command.entity = run_.pick();
                command.other = run_.pick();
            }
            script.commands.push_back(command);
        }
        script.made.resize(spawned);
    }

    // --- recording, on whatever thread
    static void record(Commands commands, Script& script) {
        for (const Command& command : script.commands) {
            if (command.act == Act::spawn || command.act == Act::spawn_bare)
                record_spawn(commands, script, command);
            else
                record_other(commands, script, command);
        }
    }
    static void record_spawn(Commands& commands, Script& script, const Command& command) {
        const std::uint32_t number = command.number;
        const PendingEntity pending =
            command.act == Act::spawn
                ? commands.spawn(value_of<Spot>(number), value_of<Alarm>(number), value_of<Flame>(number))
                : commands.spawn();
        Entity* const out = &script.made[script.pending.size()];
        script.pending.push_back(pending);
        commands.call([pending, out](World&) { *out = pending.entity(); });
    }
    static void record_other(Commands& commands, Script& script, const Command& command) {
        const bool is_pending = command.pending != 0;
        const CommandTarget target =
            is_pending ? CommandTarget(script.pending[command.pending - 1]) : CommandTarget(command.entity);
        switch (command.act) {
            case Act::destroy:
                return commands.destroy(target);
            case Act::disable:
                return commands.disable<Alarm>(target);
            case Act::enable:
                return commands.enable<Ward>(target);
            case Act::relate:
                return commands.call(
                    [source = script.pending[command.pending - 1], other = command.other](World& world) {
                        return relate<ChildOf>(world, source.entity(), other);
                    });
            default:
                break;
        }
        with_kind(command.kind, [&]<class T>() {
            command.act == Act::add ? commands.add(target, value_of<T>(command.number))
                                    : commands.remove<T>(target);
        });
    }
    void record_row(Commands& commands, Entity self, std::uint32_t number) {
        switch (number % 8) {
            case 0:
                return commands.destroy(self);
            case 1:
                return commands.add(self, value_of<Flame>(number));
            case 2:
                return commands.remove<Mite>(self);
            case 3: {
                if (!spawns_) return;
                const PendingEntity made = commands.spawn(value_of<Daze>(number), value_of<Ward>(number));
                Entity* const out = &of_rows_[static_cast<std::size_t>(self.index())];
                return commands.call([made, out](World&) { *out = made.entity(); });
            }
            default:
                return;
        }
    }

    // --- the same in the model
    void repeat() {
        model().each([&](ModelEntity& own) {
            if (own.shows(kBitOf<Spot>, kBitOf<Still> | kBitOf<Prefab>))
                own.set_value(kKindOf<Spot>, next_of<Spot>(own.value<Spot>()), model().tick);
        });
        repeat(scripts_[0]);
        repeat(scripts_[1]);
        for (const auto& [self, number] : rows_)
            repeat_row(self, number);
        repeat(scripts_[2]);
        model().tally = tally_;
        model().each([&](ModelEntity& own) {
            if (own.shows(kBitOf<Alarm> | kBitOf<Mite>, kBitOf<Prefab>) && own.value<Mite>() % 2 == 0)
                own.set_value(kKindOf<Alarm>, next_of<Alarm>(own.value<Alarm>()), model().tick);
        });
        repeat(scripts_[kLateScript]);
    }
    void repeat(Script& script) {
        std::size_t spawned = 0;
        for (Command& command : script.commands) {
            if (run_.has_failed()) return;
            if (command.pending != 0) command.entity = script.made[command.pending - 1];
            if (command.act == Act::spawn || command.act == Act::spawn_bare) {
                const Entity made = script.made[spawned++];
                command.entity = made;
                command.act == Act::spawn ? entities_.take_spawned<Spot, Alarm, Flame>(made, command.number)
                                          : entities_.take_spawned<>(made, command.number);
                // The spawn itself, and the call for its name.
                applied_ += 2;
            } else {
                note(repeat(command));
            }
        }
    }
    // Whether there was something to do it to.
    bool repeat(const Command& command) {
        ModelEntity* const own = model().find(command.entity);
        if (own == nullptr) return false;
        bool is_done = true;
        switch (command.act) {
            case Act::destroy:
                model().destroy(command.entity);
                return true;
            case Act::disable:
                if (own->has<Alarm>()) own->off |= kBitOf<Alarm>;
                return own->has<Alarm>();
            case Act::enable:
                if (own->has<Ward>()) own->off &= ~kBitOf<Ward>;
                return own->has<Ward>();
            case Act::relate:
                if (ModelEntity* const other = model().find(command.other))
                    model().link(kRelationOf<ChildOf>, *own, *other);
                return model().find(command.other) != nullptr;
            default:
                break;
        }
        with_kind(command.kind, [&]<class T>() {
            if (command.act == Act::add)
                entities_.give<T>(*own, command.number);
            else
                is_done = entities_.take<T>(*own);
        });
        return is_done;
    }
    void repeat_row(Entity self, std::uint32_t number) {
        ModelEntity* const own = model().find(self);
        switch (number % 8) {
            case 0:
                note(own != nullptr);
                if (own != nullptr) model().destroy(self);
                return;
            case 1:
                note(own != nullptr);
                if (own != nullptr) entities_.give<Flame>(*own, number);
                return;
            case 2:
                return note(own != nullptr && entities_.take<Mite>(*own));
            case 3:
                if (!spawns_) return;
                entities_.take_spawned<Daze, Ward>(of_rows_[static_cast<std::size_t>(self.index())], number);
                applied_ += 2;
                return;
            default:
                return;
        }
    }
    void note(bool is_applied) { is_applied ? ++applied_ : ++skipped_; }

    void compare() {
        for (const Script& script : scripts_)
            for (const Command& command : script.commands)
                if (!run_.has_failed()) run_.compare(command.entity);
        for (const auto& [self, number] : rows_)
            if (!run_.has_failed()) run_.compare(self);
        run_.compare_resource<Tally>(tally_);
    }

    ModelRun& run_;
    EntityOperations& entities_;
    JobPool& pool_;
    std::optional<SystemAllocator> memory_;
    std::optional<Schedule> schedule_;
    std::array<Script, 4> scripts_;
    // The rows of the query whose parts record, and what the ones in these slots spawned.
    std::vector<std::pair<Entity, std::uint32_t>> rows_;
    std::vector<Entity> of_rows_;
    std::uint32_t tally_ = 0;
    bool spawns_ = false;
    std::uint32_t applied_ = 0;
    std::uint32_t skipped_ = 0;
};

}  // namespace ouro::testing_support
