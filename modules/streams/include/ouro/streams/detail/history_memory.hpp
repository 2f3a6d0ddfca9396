#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/base/memory_block.hpp>
#include <ouro/memory/block_registry.hpp>
#include <ouro/os/reservation.hpp>
#include <ouro/streams/stream.hpp>

#include <cstddef>

namespace ouro {
struct StateRingOptions;
}

namespace ouro::detail {

// The memory of a ring's history: addresses of its own, or a stream of a table. Listed either way.
class HistoryMemory {
public:
    // Zeros, all of them usable. Fails as os::reserve, os::commit and os::prefault do; in a table as
    // MemoryTable::open_stream, Stream::grow and Stream::prewarm do.
    [[nodiscard]] static Expected<HistoryMemory> create(const StateRingOptions& options,
                                                        std::size_t bytes) noexcept;

    constexpr HistoryMemory() noexcept = default;
    HistoryMemory(HistoryMemory&&) noexcept = default;
    HistoryMemory& operator=(HistoryMemory&& other) noexcept;
    ~HistoryMemory() = default;

    [[nodiscard]] MemoryBlock block() const noexcept {
        return stream_.is_open() ? stream_.range() : plain_.block();
    }
    // Shows in the list of blocks how much of it is in use.
    void note_use(std::size_t bytes) noexcept;

private:
    Status reserve(const StateRingOptions& options, std::size_t bytes) noexcept;
    Status open_stream(const StateRingOptions& options, std::size_t bytes) noexcept;

    os::Reservation plain_;
    Stream stream_;
    // Goes first: nothing is listed that is not there.
    BlockRegistration listing_;
};

}  // namespace ouro::detail
