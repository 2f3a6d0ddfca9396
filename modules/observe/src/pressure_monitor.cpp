#include "ledger_accounts.hpp"
#include "pressure_log_writer.hpp"

#include <ouro/observe/events.hpp>
#include <ouro/observe/pressure.hpp>
#include <ouro/os/process_memory.hpp>

#include <algorithm>
#include <limits>

namespace ouro {
namespace {

using detail::LevelGauge;
using detail::PressureState;

// In one poll, whatever handlers do to the list of handlers.
constexpr unsigned kMostCalls = 4 * kMaxPressureHandlers;

// Only whoever has the turn writes. Stays at the largest number rather than beginning anew.
void add_to(std::atomic<std::uint64_t>& sum, std::uint64_t amount) noexcept {
    const std::uint64_t before = sum.load(std::memory_order_relaxed);
    constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
    sum.store(before > kMost - amount ? kMost : before + amount, std::memory_order_relaxed);
}

template <class Word, class Value>
void set(std::atomic<Word>& word, Value value) noexcept {
    word.store(static_cast<Word>(value), std::memory_order_relaxed);
}

PressureState& find_state(PressureState& own) noexcept {
    if (detail::ObserveImage* const image = detail::observe_image()) {
        for (PressureState& state : image->pressure.monitors) {
            std::uint32_t unused = 0;
            if (state.is_used.compare_exchange_strong(unused, 1)) return state;
        }
    }
    return own;
}

// For the next monitor, all but whose it is.
void clear(PressureState& state) noexcept {
    for (auto* word : {&state.tag, &state.level, &state.source})
        set(*word, 0);
    for (auto* word :
         {&state.used_bytes, &state.limit_bytes, &state.looks, &state.skipped_polls, &state.level_changes,
          &state.handler_calls, &state.reliefs, &state.failures, &state.reported_bytes, &state.freed_bytes,
          &state.handler_ns, &state.latency_min_ns, &state.latency_max_ns})
        set(*word, 0);
    for (auto& bucket : state.latency_buckets)
        set(bucket, 0);
}

std::uint64_t live_bytes(Tag tag) noexcept {
    detail::Ledger* const ledger = detail::open_ledger(tag);
    if (ledger == nullptr) return 0;
    return static_cast<std::uint64_t>(std::max<std::int64_t>(detail::live_below(*ledger, tag), 0));
}

MemoryUse budget_use(Tag tag) noexcept {
    detail::Ledger* const ledger = detail::open_ledger(tag);
    if (ledger == nullptr) return {};
    const std::int64_t hard = detail::account_of(*ledger, tag).hard.load(std::memory_order_relaxed);
    return {.used_bytes = live_bytes(tag),
            .limit_bytes = hard == detail::kUnbounded ? os::kNoLimit : static_cast<std::uint64_t>(hard)};
}

std::uint64_t fall_from(std::uint64_t before, std::uint64_t after) noexcept {
    return before > after ? before - after : 0;
}

bool are_sound(const PressureOptions& options) noexcept {
    const bool has_parts = options.read_machine != nullptr && options.clock != nullptr;
    const bool has_times = options.machine_interval_ns != 0 && options.first_pause_ns != 0 &&
                           options.first_pause_ns <= options.longest_pause_ns;
    const bool has_stalls = options.stalls.some_percent > 0 && options.stalls.full_percent > 0;
    return has_parts && has_times && has_stalls && options.tag.id() < tag_count() &&
           detail::are_sound(options.thresholds);
}

}  // namespace

PressureMonitor::PressureMonitor() noexcept : state_(&find_state(own_state_)), process_(os::process_id()) {
    detail::add_watch(watch_);
    detail::set_alarm(watch_, options_.tag, options_.thresholds.low_percent);
}

PressureMonitor::~PressureMonitor() {
    stop_worker();
    detail::remove_watch(watch_);
    clear(*state_);
    state_->is_used.store(0, std::memory_order_release);
}

Expected<void> PressureMonitor::configure(const PressureOptions& options) noexcept {
    if (!are_sound(options)) return Status::bad_argument;
    if (turn_.is_mine()) return Status::busy;
    turn_.wait_while([&]() noexcept { return !turn_.try_begin(); });
    options_ = options;
    budget_.reset();
    group_.reset();
    system_.reset();
    stall_levels_ = 0;
    next_machine_ns_ = 0;
    crossed_ns_ = 0;
    must_look_ = true;
    pause_.reset();
    verdict_.gauge = nullptr;
    detail::set_alarm(watch_, options.tag, options.thresholds.low_percent);
    turn_.end();
    // A worker may be asleep for longer than it should be now.
    detail::ring_alarm();
    return {};
}

Expected<void> PressureMonitor::add(PressureHandler& handler, int priority, std::string_view name) noexcept {
    return handlers_.add(handler, priority, name);
}

Expected<void> PressureMonitor::remove(PressureHandler& handler) noexcept {
    bool was_there = false;
    // Until it is neither in the table nor running: it may add itself again while it runs.
    const auto is_running = [&]() noexcept {
        const detail::HandlerRemoval removal = handlers_.remove(handler);
        was_there = was_there || removal.was_there;
        return removal.is_running;
    };
    if (is_running() && !turn_.is_mine()) turn_.wait_while(is_running);
    if (!was_there) return Status::not_found;
    return {};
}

bool PressureMonitor::try_poll() noexcept {
    if (!turn_.try_begin()) {
        state_->skipped_polls.fetch_add(1, std::memory_order_relaxed);
        return false;
    }
    std::uint64_t now_ns = options_.clock();
    if (is_due(now_ns)) {
        look(now_ns, false);
        act(now_ns);
        now_ns = options_.clock();
    } else {
        state_->skipped_polls.fetch_add(1, std::memory_order_relaxed);
    }
    sleep_ns_.store(time_to_next_poll_ns(now_ns), std::memory_order_relaxed);
    turn_.end();
    return true;
}

PressureReport PressureMonitor::poll() noexcept {
    static_cast<void>(try_poll());
    return report();
}

bool PressureMonitor::is_due(std::uint64_t now_ns) const noexcept {
    if (must_look_ || verdict_.level != PressureLevel::none || detail::has_crossing(watch_)) return true;
    return options_.watches_machine && now_ns >= next_machine_ns_;
}

void PressureMonitor::look(std::uint64_t now_ns, bool asks_machine) noexcept {
    add_to(state_->looks, 1);
    must_look_ = false;
    if (const std::uint64_t crossed_ns = detail::take_crossing(watch_); crossed_ns_ == 0)
        crossed_ns_ = crossed_ns;
    budget_.update(budget_use(options_.tag), options_.thresholds);
    if (options_.watches_machine && (asks_machine || now_ns >= next_machine_ns_)) measure_machine(now_ns);
    publish(judge());
    const PressureLevel level = budget_.level();
    const bool is_highest = level == PressureLevel::critical;
    detail::set_alarm(
        watch_, options_.tag,
        is_highest ? detail::kNoAlarm : detail::percent_for(options_.thresholds, detail::next_level(level)));
}

void PressureMonitor::measure_machine(std::uint64_t now_ns) noexcept {
    next_machine_ns_ = detail::later(now_ns, options_.machine_interval_ns);
    const MachineMemory machine = options_.read_machine(options_.machine_context);
    group_.update(machine.group, options_.thresholds);
    system_.update(machine.system, options_.thresholds);
    const double full = options_.stalls.full_percent / (stall_levels_ == 2 ? 2 : 1);
    const double some = options_.stalls.some_percent / (stall_levels_ != 0 ? 2 : 1);
    stall_levels_ = machine.full_stalls_percent >= full ? 2 : machine.some_stalls_percent >= some ? 1 : 0;
}

PressureMonitor::Verdict PressureMonitor::judge() const noexcept {
    Verdict worst;
    const auto consider = [&](const LevelGauge& gauge, PressureSource source, unsigned more) noexcept {
        if (gauge.level() == PressureLevel::none) return;
        const PressureLevel level = detail::next_level(gauge.level(), more);
        if (level <= worst.level) return;
        worst = {level, level > gauge.level() ? PressureSource::stalls : source, &gauge};
    };
    consider(budget_, PressureSource::budget, 0);
    if (options_.watches_machine) {
        consider(group_, PressureSource::group, stall_levels_);
        consider(system_, PressureSource::system, stall_levels_);
    }
    return worst;
}

void PressureMonitor::publish(const Verdict& verdict) noexcept {
    const PressureLevel before = verdict_.level;
    const LevelGauge& shown = verdict.gauge != nullptr ? *verdict.gauge : budget_;
    verdict_ = verdict;
    set(state_->tag, options_.tag.id());
    set(state_->level, verdict.level);
    set(state_->source, verdict.source);
    set(state_->used_bytes, shown.use().used_bytes);
    set(state_->limit_bytes, shown.use().limit_bytes);
    // What was of no use at a higher level may be of use again.
    if (verdict.level < before) pause_.reset();
    if (verdict.level == before) return;
    add_to(state_->level_changes, 1);
    post_event({.kind = ObserveEventKind::pressure_changed,
                .level = static_cast<std::uint8_t>(verdict.level),
                .tag = options_.tag,
                .bytes = shown.use().used_bytes,
                .limit_bytes = shown.use().limit_bytes});
}

// Handlers at the present level, then as for the next one, and so on, until the level is left.
void PressureMonitor::act(std::uint64_t now_ns) noexcept {
    const PressureLevel start = verdict_.level;
    if (const std::uint64_t added = handlers_.added(); added != seen_handlers_) {
        seen_handlers_ = added;
        pause_.reset();
    }
    if (start != PressureLevel::none && !pause_.holds(now_ns, start)) {
        unsigned calls = 0;
        bool is_relieved = false;
        for (PressureLevel asked = start;; asked = detail::next_level(std::max(asked, verdict_.level))) {
            is_relieved = call_all(asked, start, calls);
            if (is_relieved || asked == PressureLevel::critical) break;
        }
        if (calls != 0) add_to(is_relieved ? state_->reliefs : state_->failures, 1);
        if (!is_relieved)
            pause_.begin(options_.clock(), std::max(start, verdict_.level), options_.first_pause_ns,
                         options_.longest_pause_ns);
    }
    crossed_ns_ = 0;
}

// True once the pressure is below where it started.
bool PressureMonitor::call_all(PressureLevel asked, PressureLevel start, unsigned& calls) noexcept {
    detail::HandlerCursor cursor;
    detail::HandlerCall next;
    while (calls < kMostCalls) {
        const PressureLevel level = std::max(asked, verdict_.level);
        if (!handlers_.begin_next(cursor, level, options_.clock(), next)) return false;
        ++calls;
        call(next, level);
        if (verdict_.level < start) return true;
    }
    return false;
}

void PressureMonitor::call(const detail::HandlerCall& call, PressureLevel asked) noexcept {
    const LevelGauge* const gauge = verdict_.gauge;
    PressureRecord record{.time_ns = options_.clock(),
                          .tag = options_.tag,
                          .level = asked,
                          .source = verdict_.source,
                          .wanted_bytes = gauge->excess_bytes(),
                          .used_bytes = gauge->use().used_bytes,
                          .name_text = call.name};
    const std::uint64_t live_before = live_bytes(options_.tag);
    note_latency();
    record.reported_bytes =
        call.handler->relieve(asked, static_cast<std::size_t>(std::min<std::uint64_t>(
                                         record.wanted_bytes, std::numeric_limits<std::size_t>::max())));
    const std::uint64_t now_ns = options_.clock();
    record.duration_ns = fall_from(now_ns, record.time_ns);
    record.ledger_bytes = fall_from(live_before, live_bytes(options_.tag));
    look(now_ns, gauge != &budget_);
    const std::uint64_t freed =
        gauge == &budget_ ? record.ledger_bytes : fall_from(record.used_bytes, gauge->use().used_bytes);
    handlers_.end_call(call, freed != 0, asked, now_ns, options_);
    turn_.finish_step();
    detail::add_to_pressure_log(record);
    add_to(state_->handler_calls, 1);
    add_to(state_->handler_ns, record.duration_ns);
    add_to(state_->reported_bytes, record.reported_bytes);
    add_to(state_->freed_bytes, freed);
    post_event({.kind = ObserveEventKind::pressure_handled,
                .level = static_cast<std::uint8_t>(asked),
                .tag = options_.tag,
                .bytes = freed,
                .limit_bytes = record.wanted_bytes});
}

std::uint64_t PressureMonitor::time_to_next_poll_ns(std::uint64_t now_ns) const noexcept {
    const std::uint64_t to_machine =
        options_.watches_machine ? fall_from(next_machine_ns_, now_ns) : os::kForever;
    if (verdict_.level == PressureLevel::none) return to_machine;
    if (!pause_.holds(now_ns, verdict_.level)) return 0;
    // Nobody tells when use falls: look now and then while there is pressure.
    return std::min({to_machine, options_.machine_interval_ns, fall_from(pause_.until_ns(), now_ns)});
}

}  // namespace ouro
