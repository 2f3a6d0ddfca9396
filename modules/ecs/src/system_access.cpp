#include <ouro/ecs/detail/system_access.hpp>
#include <ouro/ecs/detail/system_scope.hpp>

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

bool has_entities(const SystemAccess& system) noexcept {
    return system.changes_structure || std::ranges::any_of(system.accesses(), &Access::has_entities);
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
    Line& add(Entity entity) noexcept {
        if (entity.is_null()) return add("a new entity");
        return add("entity ").add(entity.index()).add(":").add(entity.generation());
    }
    [[nodiscard]] std::string_view view() const noexcept { return {text_.data(), used_}; }

private:
    std::array<char, 160> text_;
    std::size_t used_ = 0;
};

}  // namespace

bool do_conflict(const SystemAccess& one, const SystemAccess& other) noexcept {
    if (one.is_exclusive || other.is_exclusive) return true;
    if (one.changes_structure && has_entities(other)) return true;
    if (other.changes_structure && has_entities(one)) return true;
    for (const Access& mine : one.accesses())
        for (const Access& theirs : other.accesses())
            if (do_conflict(mine, theirs)) return true;
    return false;
}

void require_access(std::uint32_t type, std::string_view name, bool writes, bool is_resource) {
    const RunningSystem& system = *running_system();
    if (system.access->is_exclusive || (system.access->changes_structure && !is_resource)) return;
    for (const Access& access : system.access->accesses())
        if (access.writes.has(type) || (!writes && access.reads.has(type))) return;
    Line line;
    line.add(system.name).add(writes ? " writes " : " reads ").add(name);
    assert_failed("access is declared", "a system uses what its parameters do not declare", line.view(),
                  __FILE__, __LINE__);
}

void require_query(const Access& wanted) {
    const RunningSystem& system = *running_system();
    if (system.access->is_exclusive || system.access->changes_structure) return;
    const auto may = [&](std::uint32_t type, bool writes) {
        return std::ranges::any_of(system.access->accesses(), [&](const Access& access) {
            return (access.writes.has(type) || (!writes && access.reads.has(type))) &&
                   wanted.required.has_all(access.required) && wanted.excluded.has_all(access.excluded);
        });
    };
    for (std::uint32_t type = 0; type < TypeSet::kMaxTypes; ++type) {
        const bool is_fine =
            (!wanted.reads.has(type) || may(type, false)) && (!wanted.writes.has(type) || may(type, true));
        if (!is_fine)
            assert_failed("access is declared", "a query reaches further than the parameters of its system",
                          system.name, __FILE__, __LINE__);
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

}  // namespace ouro::detail
