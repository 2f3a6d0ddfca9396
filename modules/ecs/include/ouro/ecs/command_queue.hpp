#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/ecs/commands.hpp>
#include <ouro/os/reservation.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace ouro {

namespace detail {
struct CommandState;
}  // namespace detail

struct CommandQueueOptions {
    // Threads that record at once, and pieces of code that are told apart: see CommandQueue::commands.
    unsigned participants = 1;
    unsigned systems = 1;
    // The most that all commands of a round may count together, whoever records them: 40 bytes each, and
    // their values in whole words. The same on every platform, but for what is captured for Commands::call.
    // Each participant has addresses for so much, of which memory is only what was needed at once so far.
    std::size_t max_bytes = std::size_t{16} << 20;
    // So much for each participant is brought into memory at creation. Otherwise each part of it costs a page
    // fault when it is used for the first time.
    std::size_t prewarm_bytes = 0;
};

// What a barrier did.
struct CommandReport {
    // Ok; or why something was not done: of the first command that failed, or of the first that could not be
    // recorded.
    Status status = Status::ok;
    std::uint32_t applied = 0;
    // There was nothing to do it to.
    std::uint32_t skipped = 0;
    std::uint32_t failed = 0;
    // All were dropped, since some could not be recorded: how many there were, these among them.
    std::uint32_t dropped = 0;
    // Who recorded the first one that was skipped, and the first that failed; and what they were about: null
    // where that was a new entity, or none.
    std::uint32_t skipped_system = 0;
    std::uint32_t failed_system = 0;
    Entity skipped_entity;
    Entity failed_entity;
};

// Commands on their way to a barrier, in memory outside the image. A Schedule has its own; for a program
// without one:
//
//     auto queue = CommandQueue::create();
//     Commands commands = queue->commands();
//     commands.spawn(Position{1, 2});
//     const CommandReport report = queue->merge(world);
class CommandQueue {
public:
    // Fails with bad_argument (no participants or systems), and as os::reserve does.
    [[nodiscard]] static Expected<CommandQueue> create(const CommandQueueOptions& options = {}) noexcept;
    CommandQueue(CommandQueue&& other) noexcept
        : state_(std::exchange(other.state_, nullptr)), memory_(std::move(other.memory_)) {}
    CommandQueue& operator=(CommandQueue&& other) noexcept;
    ~CommandQueue();

    // What a system records into, on the thread that is participant `lane`, behind what it recorded before.
    // Good for further rounds too. Requires: numbers below those of the options (assert).
    [[nodiscard]] Commands commands(unsigned system = 0, unsigned lane = 0) noexcept;

    // Applies everything in the order of systems, of their runs and of the commands in them; empty
    // afterwards. Requires: nobody records or visits rows. Takes no memory.
    CommandReport merge(World& world) noexcept;
    // Forgets everything.
    void clear() noexcept;

    [[nodiscard]] unsigned participant_count() const noexcept;
    [[nodiscard]] unsigned system_count() const noexcept;
    // The most memory that all of it took at once.
    [[nodiscard]] std::size_t high_water_bytes() const noexcept;

private:
    CommandQueue(detail::CommandState* state, os::Reservation memory) noexcept
        : state_(state), memory_(std::move(memory)) {}

    detail::CommandState* state_;
    os::Reservation memory_;
};

}  // namespace ouro
