// The list of all guarded allocators: whose block is it, and what is still live.
#include "fork_safety.hpp"
#include "guard_state.hpp"

namespace ouro {
namespace {

GuardLock registry_lock;
GuardCore::State* first_core = nullptr;

}  // namespace

void detail::hold_guards_for_fork() noexcept {
    registry_lock.lock();
    for (GuardCore::State* core = first_core; core != nullptr; core = core->next)
        core->lock.lock();
}

void detail::resume_guards() noexcept {
    for (GuardCore::State* core = first_core; core != nullptr; core = core->next)
        core->lock.unlock();
    registry_lock.unlock();
}

void register_core(GuardCore::State& state) noexcept {
    // Without it, the allocator is as good for those who do not fork.
    static_cast<void>(detail::watch_forks());
    const GuardLockScope scope(registry_lock);
    state.next = first_core;
    first_core = &state;
}

void forget_core(GuardCore::State& state) noexcept {
    const GuardLockScope scope(registry_lock);
    GuardCore::State** place = &first_core;
    while (*place != &state)
        place = &(*place)->next;
    *place = state.next;
}

bool find_other_owner(const GuardCore::State& asking, const void* address,
                      MemoryErrorReport& report) noexcept {
    const GuardLockScope scope(registry_lock);
    for (GuardCore::State* core = first_core; core != nullptr; core = core->next) {
        if (core == &asking) continue;
        if (!core->guards.block_at(address).is_null() && core->guards.describe(address, report)) {
            report.owner = core->options.name;
            return true;
        }
        const GuardLockScope inner(core->lock);
        const BlockRecord* record = core->ledger.find(address);
        if (record == nullptr || record->state != RecordState::live) continue;
        core->fill_report(*record, report);
        report.owner = core->options.name;
        return true;
    }
    return false;
}

LeakReport collect_leaks() noexcept {
    LeakReport report;
    const GuardLockScope scope(registry_lock);
    for (GuardCore::State* core = first_core; core != nullptr; core = core->next)
        core->add_leaks_to(report);
    return report;
}

}  // namespace ouro
