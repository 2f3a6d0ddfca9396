#include "tick_log.hpp"

namespace ouro::detail {

void TickLog::carve(Carver& carver, std::uint32_t ticks, std::uint32_t pages, std::uint64_t changes,
                    bool has_slots) noexcept {
    records_ = carver.take<Record>(ticks);
    // A tick's changes lie together: at the end there may be a gap as long as the longest tick.
    const std::uint64_t room = changes + pages;
    pages_ = carver.take<std::uint32_t>(room);
    slots_ = carver.take<std::uint32_t>(has_slots ? room : 0);
    previous_ = carver.take<std::uint32_t>(has_slots ? room : 0);
}

std::uint64_t TickLog::change_count() const noexcept {
    std::uint64_t changes = 0;
    for (std::uint32_t index = 0; index < count_; ++index)
        changes += record(oldest_ + index).changes;
    return changes;
}

// Behind the newest tick's changes, or at the front when they do not fit there.
std::uint64_t TickLog::place_for(std::uint32_t changes) const noexcept {
    if (count_ == 0) return changes <= pages_.size() ? 0 : kNowhere;
    const std::uint64_t begin = record(oldest_).begin;
    const Record& last = record(newest());
    const std::uint64_t end = last.begin + last.changes;
    const bool is_wrapped = last.begin < begin;
    // Never up to the very front, where it would look like the oldest.
    if (is_wrapped) return end + changes < begin ? end : kNowhere;
    if (end + changes <= pages_.size()) return end;
    return changes <= begin ? 0 : kNowhere;
}

TickChanges TickLog::add(std::uint32_t changes, std::uint32_t first_tick) noexcept {
    OURO_ASSERT(has_room(changes), "the log has no room for the tick");
    const std::uint64_t begin = place_for(changes);
    if (count_ == 0) oldest_ = first_tick;
    ++count_;
    record(newest()) = {.begin = begin, .changes = changes, .unused = 0, .hashes = {}};
    return this->changes(newest());
}

void TickLog::drop_oldest() noexcept {
    OURO_ASSERT(count_ > 0, "there is no tick to drop");
    ++oldest_;
    --count_;
}

void TickLog::drop_behind(std::uint32_t tick) noexcept {
    OURO_ASSERT(holds(tick), "the tick is not kept");
    count_ = tick - oldest_ + 1;
}

TickChanges TickLog::changes(std::uint32_t tick) const noexcept {
    const Record& own = record(tick);
    const auto begin = static_cast<std::size_t>(own.begin);
    if (slots_.empty()) return {.pages = pages_.subspan(begin, own.changes), .slots = {}, .previous = {}};
    return {.pages = pages_.subspan(begin, own.changes),
            .slots = slots_.subspan(begin, own.changes),
            .previous = previous_.subspan(begin, own.changes)};
}

}  // namespace ouro::detail
