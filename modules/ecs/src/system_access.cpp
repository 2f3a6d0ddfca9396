#include <ouro/ecs/detail/system_access.hpp>
#include <ouro/ecs/detail/system_scope.hpp>
#include <ouro/ecs/detail/world_core.hpp>

#include <algorithm>
#include <array>
#include <charconv>

namespace ouro::detail {
namespace {

bool are_apart(const Access& one, const Access& other) noexcept {
    return one.required.meets(other.excluded) || other.required.meets(one.excluded);
}

bool do_conflict(const Access& one, const Access& other) noexcept {
    const bool share =
        one.writes.meets(other.reads) || one.writes.meets(other.writes) || one.reads.meets(other.writes);
    return share && !are_apart(one, other);
}

// Structural changes move rows and may register types, by whose numbers resources are found, too.
bool uses_registry(const SystemAccess& system) noexcept {
    return system.changes_structure || !system.accesses().empty();
}

// Whether an entity is one of those that the parameter is about.
bool is_within(const Access& access, const WorldCore& core, Entity entity) noexcept {
    if (!access.has_entities || !core.is_alive(entity)) return true;
    const ComponentMask& mask = core.archetypes()[core.slot_of(entity).archetype].mask;
    const auto has = [&](std::uint32_t type) {
        const ComponentId id = core.id_of_type(type);
        return id != kNoComponent && mask.has(id);
    };
    return access.required.each(has) && access.excluded.each([&](std::uint32_t type) { return !has(type); });
}

// Whether a parameter declares it.
bool declares(const Access& access, const ComponentUse& use) noexcept {
    return access.writes.has(use.type) || (!use.writes && access.reads.has(use.type));
}

// A short text for a message.
class Line {
public:
    Line& add(std::string_view part) noexcept {
        const std::size_t count = std::min(part.size(), text_.size() - used_);
        std::copy_n(part.data(), count, text_.data() + used_);
        used_ += count;
        return *this;
    }
    Line& add(std::uint64_t number) noexcept {
        std::array<char, 20> digits;
        const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number);
        return add(std::string_view(digits.data(), static_cast<std::size_t>(end.ptr - digits.data())));
    }
    Line& add(Entity entity, std::string_view if_null = "a new entity") noexcept {
        if (entity.is_null()) return add(if_null);
        return add("entity ").add(entity.index()).add(":").add(entity.generation());
    }
    [[nodiscard]] std::string_view view() const noexcept { return {text_.data(), used_}; }

private:
    std::array<char, 320> text_;
    std::size_t used_ = 0;
};

}  // namespace

bool do_conflict(const SystemAccess& one, const SystemAccess& other) noexcept {
    if (one.is_exclusive || other.is_exclusive) return true;
    if (one.changes_structure && uses_registry(other)) return true;
    if (other.changes_structure && uses_registry(one)) return true;
    for (const Access& mine : one.accesses())
        for (const Access& theirs : other.accesses())
            if (do_conflict(mine, theirs)) return true;
    return false;
}

void require_access(const WorldCore& core, Entity entity, const ComponentUse& use) {
    const RunningSystem& system = *running_system();
    if (system.access->is_exclusive || system.access->changes_structure) return;
    bool is_declared = false;
    for (const Access& access : system.access->accesses()) {
        if (!declares(access, use)) continue;
        if (is_within(access, core, entity)) return;
        is_declared = true;
    }
    Line line;
    line.add(system.name).add(use.writes ? " writes " : " reads ").add(use.name);
    line.add(" of ").add(entity, "nobody");
    assert_failed("access is declared",
                  is_declared ? "a system uses an entity that its filters do not let through"
                              : "a system uses what its parameters do not declare",
                  line.view(), __FILE__, __LINE__);
}

void require_resource(const ComponentUse& use) {
    const RunningSystem& system = *running_system();
    if (system.access->is_exclusive) return;
    for (const Access& access : system.access->accesses())
        if (declares(access, use)) return;
    Line line;
    line.add(system.name).add(use.writes ? " writes " : " reads ").add(use.name);
    assert_failed("access is declared", "a system uses what its parameters do not declare", line.view(),
                  __FILE__, __LINE__);
}

void require_registration(std::string_view name) {
    const RunningSystem& system = *running_system();
    if (system.access->is_exclusive || system.access->changes_structure) return;
    Line line;
    line.add(system.name).add(" asks for ").add(name);
    assert_failed("the component is known", "a system asks for a component that the world does not know yet",
                  line.view(), __FILE__, __LINE__);
}

void require_query(const Access& wanted, NameOfType name_of) {
    const RunningSystem& system = *running_system();
    if (system.access->is_exclusive || system.access->changes_structure) return;
    const auto may = [&](std::uint32_t type, bool writes) {
        return std::ranges::any_of(system.access->accesses(), [&](const Access& access) {
            return (access.writes.has(type) || (!writes && access.reads.has(type))) &&
                   wanted.required.has_all(access.required) && wanted.excluded.has_all(access.excluded);
        });
    };
    for (std::uint32_t type = 0; type < TypeSet::kMaxTypes; ++type) {
        const bool is_written = wanted.writes.has(type);
        if (!is_written && !wanted.reads.has(type)) continue;
        if (may(type, is_written)) continue;
        Line line;
        line.add(system.name).add(is_written ? " writes " : " reads ").add(name_of(type));
        assert_failed("access is declared", "a query reaches further than the parameters of its system",
                      line.view(), __FILE__, __LINE__);
    }
}

void require_structure(Entity entity) {
    const RunningSystem& system = *running_system();
    if (system.access->is_exclusive || system.access->changes_structure) return;
    Line line;
    line.add(system.name).add(" changes ").add(entity);
    assert_failed("the system is exclusive", "record structural changes as commands", line.view(), __FILE__,
                  __LINE__);
}

void visited_meanwhile(Entity entity) {
    Line line;
    line.add(entity);
    if (running_system() != nullptr) line.add(" in ").add(running_system()->name);
    assert_failed("no rows are visited", "rows are being visited: record the change as a command instead",
                  line.view(), __FILE__, __LINE__);
}

void component_missing(std::string_view name, Status status, const TypeClash& clash) {
    Line line;
    if (running_system() != nullptr) line.add(running_system()->name).add(" asks for ");
    if (clash.refused.empty())
        line.add(name).add(": ").add(status_text(status));
    else
        line.add(clash.refused).add(", whose name in the world is that of ").add(clash.known);
    assert_failed("the world knows the component",
                  "a query asks for a component that cannot be in this world", line.view(), __FILE__,
                  __LINE__);
}

void marked_in_a_loop() {
    Line line;
    if (running_system() != nullptr) line.add(running_system()->name);
    assert_failed("no loop is shared out",
                  "a loop that is shared out writes what it does not hand out: use Mut<T> and Query::prepare",
                  line.view(), __FILE__, __LINE__);
}

void named_after_barrier() {
    Line line;
    if (running_system() != nullptr) line.add(running_system()->name);
    assert_failed("the entity is pending", "a pending entity was named after its barrier", line.view(),
                  __FILE__, __LINE__);
}

void recorded_in_a_loop() {
    Line line;
    if (running_system() != nullptr) line.add(running_system()->name);
    assert_failed("the recorder is the loop's own",
                  "a loop that is shared out records with the Commands it is called with", line.view(),
                  __FILE__, __LINE__);
}

}  // namespace ouro::detail
