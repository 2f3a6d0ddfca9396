#pragma once

#include <ouro/base/assert.hpp>
#include <ouro/base/expected.hpp>
#include <ouro/memory/block_registry.hpp>
#include <ouro/os/reservation.hpp>
#include <ouro/streams/stream.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace ouro {

// One reservation of addresses, divided into streams: what a world lives in. It knows ranges and cursors,
// never objects. The table and each of its streams are listed in the registry of blocks (block_registry.hpp),
// beside every other range that the engine owns; block_listing.hpp prints all of them.
//
//     auto table = MemoryTable::create({});
//     auto frames = table->open_stream({.name = "frames", .reserve_bytes = std::size_t{1} << 30});
//     auto block = frames->take(1000, 64);
//     if (!block) log(table->last_refusal());     // which stream, and how large it was
//
// A process can have several tables. Streams are opened and closed from any thread.
class MemoryTable final {
public:
    // 16 GiB where addresses have 64 bits.
    static constexpr std::size_t kUsualBytes = sizeof(std::size_t) > 4
                                                   ? static_cast<std::size_t>(std::uint64_t{16} << 30)
                                                   : 0;
    static constexpr std::size_t kMaxStreams = detail::kMaxStreams;

    struct Options {
        std::string_view name = "memory table";
        Tag tag = {};
        // Rounded up to pages. Zero, and the usual value where addresses have 32 bits: the largest power of
        // two that is free, which leaves room for others.
        std::size_t reserve_bytes = kUsualBytes;
        // Where the first stream may begin, on a page; null for anywhere. What is there already is never
        // replaced: address_in_use.
        void* address = nullptr;
    };

    struct Stats {
        std::size_t reserved_bytes = 0;
        // Addresses of open streams, and what is left for another one.
        std::size_t stream_bytes = 0;
        std::size_t largest_free_bytes = 0;
        std::size_t committed_bytes = 0;
        std::size_t streams = 0;
        std::uint64_t refusals = 0;
    };

    // Fails as os::reserve and os::commit do, and with bad_argument without a name.
    [[nodiscard]] static Expected<MemoryTable> create(const Options& options) noexcept;

    MemoryTable(MemoryTable&& other) noexcept;
    MemoryTable& operator=(MemoryTable&& other) noexcept;
    // Requires: all streams are closed (assert).
    ~MemoryTable();

    // At the lowest addresses that are free, with guard pages to the next. Fails with bad_argument (no
    // name), zero_size, size_overflow, bad_alignment, or capacity_exhausted (no room of that size, or
    // kMaxStreams are open), and last_refusal() has the details of the last.
    [[nodiscard]] Expected<Stream> open_stream(const StreamOptions& options) noexcept;

    // The addresses that streams are cut from.
    [[nodiscard]] MemoryBlock range() const noexcept { return state().range; }
    [[nodiscard]] BlockHandle listing() const noexcept { return state().listing.handle(); }

    // The registry's entries of the open streams, by address, as many as fit; returns how many there are. A
    // stream that found the registry full is left out.
    std::size_t snapshot_streams(std::span<BlockInfo> streams) const noexcept;
    [[nodiscard]] Stats stats() const noexcept;
    // The last refusal of any stream; its status is ok when there was none.
    [[nodiscard]] StreamRefusal last_refusal() const noexcept;
    // ok, or corrupt_data: streams in order, apart and within the table. No stream may be in use meanwhile.
    [[nodiscard]] Status check() const noexcept;

private:
    MemoryTable(os::Reservation reservation, detail::TableState* state) noexcept
        : reservation_(std::move(reservation)), state_(state) {}
    void end() noexcept;
    [[nodiscard]] detail::TableState& state() const noexcept {
        OURO_ASSERT(state_ != nullptr, "the table was moved from");
        return *state_;
    }

    os::Reservation reservation_;
    detail::TableState* state_ = nullptr;
};

}  // namespace ouro
