#pragma once

#include <ouro/base/status.hpp>
#include <ouro/ecs/detail/system_scope.hpp>
#include <ouro/ecs/entity.hpp>
#include <ouro/memory/bump_range.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace ouro {

class World;

namespace detail {

// A change that waits for its barrier, with what it needs behind it.
struct CommandRecord {
    // Ok, or why not: stale_handle and not_found when there is nothing to do it to.
    using Apply = Status (*)(World& world, CommandRecord& record) noexcept;

    Apply apply = nullptr;
    CommandRecord* next = nullptr;
    // Whose entity it is about, where that did not exist yet.
    CommandRecord* spawn = nullptr;
    // What it is about; of a spawn what it made.
    Entity entity = {};

    [[nodiscard]] Entity target() const noexcept { return spawn != nullptr ? spawn->entity : entity; }
};

// Commands one behind the other. Runs of one system are ordered by their keys, and no two have the same.
struct CommandRun {
    CommandRun* next = nullptr;
    CommandRecord* first = nullptr;
    CommandRecord* last = nullptr;
    std::uint64_t key = 0;
    std::uint32_t system = 0;
};

// What a command with these values counts: the same wherever and by whomever it is recorded, and never less
// than it takes.
inline constexpr std::size_t kCommandBytes = 40;
template <class... Values>
[[nodiscard]] consteval std::size_t counted_bytes() noexcept {
    [[maybe_unused]] const auto counted = [](std::size_t bytes, std::size_t alignment) {
        const std::size_t unit = alignment > 8 ? alignment : 8;
        return (bytes + unit - 1) / unit * unit + (alignment > 8 ? 3 * alignment : 0);
    };
    return (kCommandBytes + ... + counted(sizeof(Values), alignof(Values)));
}
// The most memory that is needed to record commands that count so much: each may be a run of its own.
[[nodiscard]] constexpr std::size_t most_recorded_bytes(std::size_t counted) noexcept {
    static_assert(sizeof(CommandRecord) <= kCommandBytes && alignof(CommandRun) <= 8);
    const std::size_t runs = counted / kCommandBytes;
    const bool fits = runs <= (SIZE_MAX - counted) / sizeof(CommandRun);
    return fits ? counted + runs * sizeof(CommandRun) : SIZE_MAX;
}

// The memory of one participant, and the runs that lie in it. No two threads use one at once.
struct alignas(64) CommandLane {
    BumpRange memory;
    CommandRun* runs = nullptr;
    // What was to be recorded here counts so much; one lane alone may not pass what all of them may.
    std::uint64_t counted_bytes = 0;
    std::uint64_t max_counted_bytes = 0;
    // How many were not recorded, and why.
    std::uint32_t lost = 0;
    Status status = Status::ok;

    // Whether a command may be recorded that counts so much.
    [[nodiscard]] bool count(std::size_t bytes) noexcept {
        counted_bytes += bytes;
        if (counted_bytes <= max_counted_bytes) [[likely]]
            return true;
        status = Status::capacity_exhausted;
        return false;
    }

    template <class T, class... Args>
    [[nodiscard]] T* make(Args&&... args) noexcept {
        const auto block = memory.take(sizeof(T), alignof(T));
        if (block) [[likely]]
            return std::construct_at(reinterpret_cast<T*>(block->data), std::forward<Args>(args)...);
        status = block.status();
        return nullptr;
    }
};

// Where one piece of code records: on one lane, into one run, which begins with its first command.
struct CommandStream {
    CommandLane* lanes = nullptr;
    // Counts barriers, so that a pending entity that is used too late is noticed.
    const std::uint32_t* epoch = nullptr;
    CommandRun* run = nullptr;
    std::uint64_t key = 0;
    std::uint32_t system = 0;
    unsigned lane = 0;
    // Of loops that are shared out, one in the other: this many are around it.
    unsigned depth = 0;

    // Whether it is that of some rows of a loop.
    [[nodiscard]] bool is_part() const noexcept { return depth != 0; }

    // Loops and what lies between them are sections, in the order of the program.
    void begin_section() noexcept {
        key = ((key >> 32) + 1) << 32;
        run = nullptr;
    }

    // With these values in it.
    template <class Record, class... Values>
    Record* record(const Values&... values) noexcept {
        constexpr std::size_t kCounted = counted_bytes<Values...>();
        static_assert(sizeof(Record) + (alignof(Record) > 8 ? alignof(Record) : 0) <= kCounted);
        expect_own_recorder(depth);
        CommandLane& own = lanes[lane];
        if (!own.count(kCounted) || (run == nullptr && !begin_run(own))) [[unlikely]]
            return lose<Record>(own);
        Record* const made = own.make<Record>(values...);
        if (made == nullptr) [[unlikely]]
            return lose<Record>(own);
        (run->last != nullptr ? run->last->next : run->first) = made;
        run->last = made;
        return made;
    }

    // One that cannot be recorded for want of another.
    template <class... Values>
    void pass_over() noexcept {
        CommandLane& own = lanes[lane];
        static_cast<void>(own.count(counted_bytes<Values...>()));
        ++own.lost;
    }

private:
    template <class Record>
    [[nodiscard]] static Record* lose(CommandLane& own) noexcept {
        ++own.lost;
        return nullptr;
    }
    [[gnu::noinline]] bool begin_run(CommandLane& own) noexcept {
        run = own.make<CommandRun>(CommandRun{own.runs, nullptr, nullptr, key, system});
        if (run != nullptr) own.runs = run;
        return run != nullptr;
    }
};

// A loop whose body records: its commands come between what was recorded before and after it, ordered by the
// numbers of its first rows.
class CommandSection {
public:
    // Requires: not a part itself: the numbers of rows have one place in the order.
    explicit CommandSection(CommandStream& outer) noexcept : outer_(outer) {
        expect_own_recorder(outer.depth);
        outer_.begin_section();
    }
    ~CommandSection() { outer_.begin_section(); }
    CommandSection(const CommandSection&) = delete;
    CommandSection& operator=(const CommandSection&) = delete;

    // For a part of the loop that begins at a row, on a participant.
    [[nodiscard]] CommandStream part(std::uint32_t first_row, unsigned participant) const noexcept {
        CommandStream stream = outer_;
        stream.key |= first_row;
        stream.lane = participant;
        ++stream.depth;
        return stream;
    }

private:
    CommandStream& outer_;
};

}  // namespace detail
}  // namespace ouro
