#include <ouro/ecs/detail/query_plan.hpp>
#include <ouro/ecs/detail/row_bits.hpp>
#include <ouro/ecs/detail/sparse_set.hpp>
#include <ouro/ecs/world.hpp>

#include <cstring>

namespace ouro::detail {

Status EventLog::watch(const Observer& observer) noexcept {
    if (observer_count_ == observers_.size()) return Status::capacity_exhausted;
    observers_[observer_count_++] = observer;
    if (observer.component != kNoComponent)
        watched_[static_cast<std::size_t>(observer.kind)].add(observer.component);
    return Status::ok;
}

void EventLog::find_ids(std::span<const ComponentId> component_of_type) noexcept {
    watched_ = {};
    for (Observer& observer : observers_.first(observer_count_)) {
        observer.component = component_of_type[observer.type];
        if (observer.component != kNoComponent)
            watched_[static_cast<std::size_t>(observer.kind)].add(observer.component);
    }
}

void EventLog::record(std::uint64_t epoch, EventKind kind, Entity entity, ComponentId id,
                      std::span<const std::byte> value) noexcept {
    begin_epoch(epoch);
    const std::size_t bytes = sizeof(Record) + (value.size() + 7) / 8 * 8;
    if (log_.size - used_ < bytes) {
        has_lost_ = true;
        return;
    }
    const Record record{entity, id, kind, 0, static_cast<std::uint32_t>(value.size())};
    std::memcpy(log_.data + used_, &record, sizeof(record));
    if (!value.empty()) std::memcpy(log_.data + used_ + sizeof(record), value.data(), value.size());
    used_ += bytes;
}

bool EventLog::call_observers(const Record& record, World& world) const noexcept {
    const std::byte* const value = log_.data + read_ + sizeof(Record);
    const std::uint64_t epoch = epoch_;
    for (std::uint32_t i = 0; i < observer_count_; ++i) {
        const Observer& observer = observers_[i];
        if (observer.component != record.component || observer.kind != record.kind) continue;
        observer.call(observer.fn.data(), world, record.entity, value);
        if (world.core().marks().epoch() != epoch) return false;
    }
    return true;
}

bool EventLog::deliver_round(World& world) noexcept {
    const std::size_t end = used_;
    while (read_ != end) {
        Record record;
        std::memcpy(&record, log_.data + read_, sizeof(record));
        if (!call_observers(record, world)) return false;
        read_ += sizeof(record) + (std::size_t{record.bytes} + 7) / 8 * 8;
    }
    return true;
}

Status EventLog::deliver(std::uint64_t epoch, World& world) noexcept {
    if (is_delivering_) return Status::busy;
    begin_epoch(epoch);
    is_delivering_ = true;
    bool is_same_tick = true;
    for (unsigned round = 0; is_same_tick && round < kMaxRounds && read_ != used_; ++round)
        is_same_tick = deliver_round(world);
    is_delivering_ = false;
    // The events of the tick that was left are gone with it.
    if (!is_same_tick) {
        begin_epoch(world.core().marks().epoch());
        return Status::tick_gone;
    }
    if (read_ != used_) return Status::rate_limited;
    used_ = read_ = 0;
    const bool has_lost = has_lost_;
    has_lost_ = false;
    return has_lost ? Status::capacity_exhausted : Status::ok;
}

void WorldCore::record_added(Entity entity, const ComponentMask& mask) noexcept {
    const ComponentMask& watched = this->watched(EventKind::added);
    mask.each([&](ComponentId id) {
        if (watched.has(id)) events_.record(marks_.epoch(), EventKind::added, entity, id);
    });
}

void WorldCore::record_removed(Entity entity, const ComponentMask& mask) noexcept {
    const ComponentMask& watched = this->watched(EventKind::removed);
    if (!mask.has_any(watched)) return;
    mask.each([&](ComponentId id) {
        if (!watched.has(id)) return;
        const std::size_t bytes = components_[id].bytes;
        const std::byte* const value = bytes == 0 ? nullptr : find_cell(slot_of(entity), id, bytes);
        events_.record(marks_.epoch(), EventKind::removed, entity, id, {value, bytes});
    });
}

void SparseSet::record_added(Entity entity) noexcept {
    core_->events().record(core_->marks().epoch(), EventKind::added, entity, table_->component);
}

void SparseSet::record_removed(std::uint32_t slot) noexcept {
    const std::uint32_t row = find(slot) - 1;
    core_->events().record(core_->marks().epoch(), EventKind::removed, entity(row), table_->component,
                           {cell_bytes(row), bytes()});
}

void WorldCore::record_changes() noexcept {
    if (changes_epoch_ == marks_.epoch()) return;
    changes_epoch_ = marks_.epoch();
    watched(EventKind::changed).each([&](ComponentId id) {
        if (components_[id].kind == ComponentKind::sparse)
            return record_changes(sparse_table(id).rows, id, 1);
        for (const ArchetypeRecord& archetype : archetypes())
            if (const unsigned column = column_of(archetype, id); column != 0)
                record_changes(archetype, id, column - 1);
    });
}

void WorldCore::record_changes(const ArchetypeRecord& archetype, ComponentId id, unsigned column) noexcept {
    std::uint32_t left = archetype.row_count;
    for (std::uint32_t number = 0; left != 0; ++number) {
        const std::uint32_t rows = std::min(left, rows_of_block(number));
        left -= rows;
        BlockColumn* const columns = block(archetype, number);
        const ChangePlanes own = planes(columns[column], rows_of_block(number));
        const auto word_at = [&](std::uint32_t word) {
            return own.changed_now_word(word) |
                   rows_that_came(archetype, now(), true, first_row_of_block(number) + word * 64);
        };
        visit_set_runs(0, rows, word_at, [&](std::uint32_t begin, std::uint32_t end) {
            for (std::uint32_t row = begin; row < end; ++row)
                events_.record(marks_.epoch(), EventKind::changed, cell<Entity>(columns[0], row), id);
        });
    }
}

}  // namespace ouro::detail
