#include <ouro/base/assert.hpp>
#include <ouro/ecs/command_queue.hpp>

#include <memory>
#include <span>

namespace ouro {

using detail::CommandLane;
using detail::CommandRecord;
using detail::CommandRun;
using detail::CommandStream;

struct detail::CommandState {
    std::span<CommandLane> lanes;
    std::span<CommandStream> streams;
    // Of each system, at the merge.
    std::span<CommandRun*> heads;
    std::uint32_t epoch = 1;
    // Of all lanes together.
    std::uint64_t max_counted_bytes = 0;
    std::size_t high_water_bytes = 0;
};

namespace {

using detail::CommandState;

constexpr std::size_t kLine = 64;
constexpr std::size_t kStepBytes = std::size_t{64} << 10;

constexpr std::size_t lines(std::size_t bytes) noexcept {
    return (bytes + kLine - 1) / kLine * kLine;
}

CommandRun* merged(CommandRun* one, CommandRun* other) noexcept {
    CommandRun* first = nullptr;
    CommandRun** end = &first;
    while (one != nullptr && other != nullptr) {
        CommandRun*& less = one->key < other->key ? one : other;
        *end = less;
        end = &less->next;
        less = less->next;
    }
    *end = one != nullptr ? one : other;
    return first;
}

// Sorted lists of 1, 2, 4, ... runs, as the digits of a number that counts them.
CommandRun* sorted(CommandRun* runs) noexcept {
    CommandRun* digits[32] = {};
    unsigned used = 0;
    while (runs != nullptr) {
        CommandRun* carried = runs;
        runs = runs->next;
        carried->next = nullptr;
        unsigned digit = 0;
        for (; digit < used && digits[digit] != nullptr; ++digit) {
            carried = merged(digits[digit], carried);
            digits[digit] = nullptr;
        }
        digits[digit] = carried;
        if (digit == used) ++used;
    }
    CommandRun* all = nullptr;
    for (unsigned digit = 0; digit < used; ++digit)
        all = merged(digits[digit], all);
    return all;
}

void apply(World& world, const CommandRun& run, CommandReport& report) noexcept {
    for (CommandRecord* record = run.first; record != nullptr; record = record->next) {
        const Status status = record->apply(world, *record);
        if (status == Status::ok) [[likely]] {
            ++report.applied;
        } else if (status == Status::stale_handle || status == Status::not_found) {
            if (report.skipped++ == 0) {
                report.skipped_system = run.system;
                report.skipped_entity = record->target();
            }
        } else if (report.failed++ == 0) {
            report.status = status;
            report.failed_system = run.system;
            report.failed_entity = record->target();
        }
    }
}

std::uint32_t count_of(const CommandState& state) noexcept {
    std::uint32_t count = 0;
    for (const CommandLane& lane : state.lanes) {
        count += lane.lost;
        for (const CommandRun* run = lane.runs; run != nullptr; run = run->next)
            for (const CommandRecord* record = run->first; record != nullptr; record = record->next)
                ++count;
    }
    return count;
}

// Ok, or why there is not all of it. Which lane came to its end first depends on threads: the sum does not.
Status status_of(const CommandState& state) noexcept {
    std::uint64_t counted = 0;
    Status status = Status::ok;
    for (const CommandLane& lane : state.lanes) {
        counted += lane.counted_bytes;
        if (status == Status::ok) status = lane.status;
    }
    return counted > state.max_counted_bytes ? Status::capacity_exhausted : status;
}

}  // namespace

Expected<CommandQueue> CommandQueue::create(const CommandQueueOptions& options) noexcept {
    if (options.participants == 0 || options.systems == 0) return Status::bad_argument;
    const std::size_t streams_at = lines(sizeof(CommandState)) + options.participants * sizeof(CommandLane);
    const std::size_t heads_at = streams_at + lines(options.systems * sizeof(CommandStream));
    const std::size_t bytes = heads_at + options.systems * sizeof(CommandRun*);
    auto memory = os::Reservation::create({.bytes = bytes});
    if (!memory) return memory.status();
    if (const auto committed = memory->commit(0, memory->block().size); !committed) return committed.status();
    std::byte* const start = memory->block().data;
    auto* const state = std::construct_at(reinterpret_cast<CommandState*>(start));
    state->lanes = {reinterpret_cast<CommandLane*>(start + lines(sizeof(CommandState))),
                    options.participants};
    state->streams = {reinterpret_cast<CommandStream*>(start + streams_at), options.systems};
    state->heads = {reinterpret_cast<CommandRun**>(start + heads_at), options.systems};
    for (CommandLane& lane : state->lanes)
        std::construct_at(&lane);
    for (unsigned system = 0; system < options.systems; ++system)
        std::construct_at(&state->streams[system],
                          CommandStream{state->lanes.data(), &state->epoch, nullptr, 0, system, 0});
    state->max_counted_bytes = options.max_bytes;
    // Whole from here on: what fails ends it.
    CommandQueue queue(state, *std::move(memory));
    for (CommandLane& lane : state->lanes) {
        auto range = GrowingRange::reserve({.max_bytes = detail::most_recorded_bytes(options.max_bytes),
                                            .step_bytes = kStepBytes,
                                            .name = "commands"});
        if (!range) return range.status();
        if (options.prewarm_bytes != 0)
            if (const auto warm = range->prewarm(0, options.prewarm_bytes); !warm) return warm.status();
        lane.memory = BumpRange(*std::move(range));
        lane.max_counted_bytes = options.max_bytes;
    }
    return queue;
}

CommandQueue& CommandQueue::operator=(CommandQueue&& other) noexcept {
    if (this == &other) return *this;
    std::destroy_at(this);
    return *std::construct_at(this, std::move(other));
}

CommandQueue::~CommandQueue() {
    if (state_ != nullptr) std::destroy(state_->lanes.begin(), state_->lanes.end());
}

Commands CommandQueue::commands(unsigned system, unsigned lane) noexcept {
    OURO_ASSERT(system < state_->streams.size() && lane < state_->lanes.size(),
                "the queue was made for fewer systems or threads");
    CommandStream& stream = state_->streams[system];
    // What it recorded before in this round comes first.
    stream.begin_section();
    stream.lane = lane;
    return Commands(stream);
}

CommandReport CommandQueue::merge(World& world) noexcept {
    CommandReport report;
    report.status = status_of(*state_);
    if (report.status != Status::ok) {
        report.dropped = count_of(*state_);
        clear();
        return report;
    }
    for (CommandLane& lane : state_->lanes) {
        for (CommandRun* run = lane.runs; run != nullptr;) {
            CommandRun* const next = run->next;
            run->next = state_->heads[run->system];
            state_->heads[run->system] = run;
            run = next;
        }
    }
    for (CommandRun*& head : state_->heads)
        for (const CommandRun* run = sorted(std::exchange(head, nullptr)); run != nullptr; run = run->next)
            apply(world, *run, report);
    clear();
    return report;
}

void CommandQueue::clear() noexcept {
    std::size_t used_bytes = 0;
    for (CommandLane& lane : state_->lanes) {
        used_bytes += lane.memory.used_bytes();
        lane.memory.cut_to(0);
        lane.runs = nullptr;
        lane.counted_bytes = 0;
        lane.lost = 0;
        lane.status = Status::ok;
    }
    for (CommandStream& stream : state_->streams) {
        stream.key = 0;
        stream.run = nullptr;
    }
    if (used_bytes > state_->high_water_bytes) state_->high_water_bytes = used_bytes;
    ++state_->epoch;
}

unsigned CommandQueue::participant_count() const noexcept {
    return static_cast<unsigned>(state_->lanes.size());
}
unsigned CommandQueue::system_count() const noexcept {
    return static_cast<unsigned>(state_->streams.size());
}
std::size_t CommandQueue::high_water_bytes() const noexcept {
    return state_->high_water_bytes;
}

}  // namespace ouro
