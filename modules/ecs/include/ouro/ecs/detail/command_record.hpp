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

// The memory of one participant, and the runs that lie in it. No two threads use one at once.
struct alignas(64) CommandLane {
    BumpRange memory;
    CommandRun* runs = nullptr;
    // Why something could not be recorded.
    Status status = Status::ok;

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

    template <class Record, class... Args>
    Record* record(Args&&... args) noexcept {
        expect_own_recorder(depth);
        CommandLane& own = lanes[lane];
        if (run == nullptr && !begin_run(own)) [[unlikely]]
            return nullptr;
        Record* const made = own.make<Record>(std::forward<Args>(args)...);
        if (made == nullptr) [[unlikely]]
            return nullptr;
        (run->last != nullptr ? run->last->next : run->first) = made;
        run->last = made;
        return made;
    }

private:
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
