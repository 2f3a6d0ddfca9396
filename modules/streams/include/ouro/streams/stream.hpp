#pragma once

#include <ouro/base/align.hpp>
#include <ouro/base/assert.hpp>
#include <ouro/base/expected.hpp>
#include <ouro/base/memory_block.hpp>
#include <ouro/memory/annotations.hpp>
#include <ouro/memory/tag.hpp>
#include <ouro/streams/detail/table_state.hpp>
#include <ouro/streams/stream_refusal.hpp>

#include <cstddef>
#include <string_view>
#include <utility>

namespace ouro {

struct StreamOptions {
    // Copied, and cut where the registry of blocks cuts it.
    std::string_view name;
    Tag tag = {};
    // Addresses: the most that the stream can ever hold. Rounded up to pages.
    std::size_t reserve_bytes = 0;
    // How much to commit at least when more is needed. Rounded up to pages.
    std::size_t commit_step_bytes = std::size_t{256} << 10;
    // Of the first byte. Zero means a page.
    std::size_t alignment = 0;
    // Addresses behind the stream that nothing will ever lie at; at least a page.
    std::size_t guard_bytes = 0;
};

// A part of a MemoryTable with an owner: addresses that stay, memory behind them from the front as far as it
// was needed, a cursor, and the highest that it ever was. Closed at the end of its life, and its addresses
// are then free for other streams. Requires: the table lives longer (assert).
//
// One thread at a time uses a stream; different streams of a table can be used at once.
class Stream final {
public:
    constexpr Stream() noexcept = default;
    Stream(Stream&& other) noexcept : slot_(std::exchange(other.slot_, nullptr)) {}
    Stream& operator=(Stream&& other) noexcept {
        if (this != &other) {
            close();
            slot_ = std::exchange(other.slot_, nullptr);
        }
        return *this;
    }
    ~Stream() { close(); }

    // Gives memory and addresses back now. A closed stream, such as one that was moved from, can only be
    // closed again, replaced or asked whether it is open.
    void close() noexcept;
    [[nodiscard]] bool is_open() const noexcept { return slot_ != nullptr; }

    [[nodiscard]] std::string_view name() const noexcept { return slot().name.data(); }
    [[nodiscard]] Tag tag() const noexcept { return slot().tag; }
    // All of its addresses, whether or not there is memory behind them.
    [[nodiscard]] MemoryBlock range() const noexcept { return slot().range; }
    [[nodiscard]] std::size_t reserved_bytes() const noexcept { return slot().range.size; }
    [[nodiscard]] std::size_t committed_bytes() const noexcept { return slot().committed_bytes; }
    [[nodiscard]] std::size_t cursor_bytes() const noexcept { return slot().cursor_bytes; }
    [[nodiscard]] std::size_t high_water_bytes() const noexcept { return slot().high_water_bytes; }

    // Makes at least the first `bytes` usable; what was never used reads zero. Fails with capacity_exhausted
    // beyond the reserved bytes, sealed, or as os::commit does, and last_refusal() has the details.
    Expected<void> grow(std::size_t bytes) noexcept;
    // Brings the first `bytes` into memory too, so that their first use causes no fault. Fails as grow and
    // os::prefault do.
    Expected<void> prewarm(std::size_t bytes) noexcept;
    // Gives back what lies behind the first `bytes` and behind the cursor, as far as whole pages go; nothing
    // under a seal, and nothing that the system refuses to take.
    void shrink(std::size_t bytes) noexcept;
    // The same down to any page boundary, whatever is sealed: for pages that are not plain memory any more
    // (see os::FileInput::map_over). Requires: bytes >= cursor_bytes(). Fails as os::decommit does, and
    // nothing has changed then.
    Expected<void> drop_behind(std::size_t bytes) noexcept;

    // Moves the cursor over `size` bytes at a multiple of `alignment`, growing where needed. The bytes are
    // zero where no cursor was before. Fails as grow does, and with zero_size, bad_alignment or
    // size_overflow.
    [[nodiscard]] Expected<MemoryBlock> take(std::size_t size, std::size_t alignment) noexcept {
        detail::StreamSlot& own = slot();
        const auto base = reinterpret_cast<std::uintptr_t>(own.range.data);
        const std::uintptr_t cursor = base + own.cursor_bytes;
        const std::uintptr_t start = (cursor + (alignment - 1)) & ~(alignment - 1);
        const std::uintptr_t limit = base + own.committed_bytes;
        const bool fits = start >= cursor && start <= limit && size <= limit - start;
        if (!fits || size == 0 || !is_alignment(alignment)) [[unlikely]]
            return take_slow(size, alignment);
        return hand_out(start - base, size);
    }
    // Moves the cursor back. Requires: bytes <= cursor_bytes() (assert).
    void cut_to(std::size_t bytes) noexcept {
        detail::StreamSlot& own = slot();
        OURO_ASSERT(bytes <= own.cursor_bytes, "a stream is cut back to where its cursor has been");
        if (own.is_told) annotate::forbid(own.range.sub(bytes, own.cursor_bytes - bytes));
        own.cursor_bytes = bytes;
    }

    // For owners that keep a cursor of their own: where it is, and how high it was at most.
    void note_cursor(std::size_t cursor_bytes, std::size_t high_water_bytes) noexcept;
    // For owners that put memory of their own over the range (os::MapRequest::within), from its front, and
    // take it away again before they close the stream.
    void note_mapped(std::size_t committed_bytes, std::size_t cursor_bytes) noexcept;
    // For owners that take all of it at once: how much of it is in use, which is not from its front. Cheap
    // enough for every tick, and without a lock as long as it is near to what was told before.
    void note_use(std::size_t bytes) noexcept;
    // Counts as refused, and is told by last_refusal(): for owners with bounds of their own. Returns the
    // status.
    Status refuse(Status status, std::size_t wanted_bytes) noexcept;

    // From now on sanitizers hear that nothing behind the cursor may be touched.
    void tell_sanitizers() noexcept;

    // Brings the registry of blocks up to date; growing and shrinking do it by themselves.
    void publish() noexcept;
    [[nodiscard]] BlockHandle listing() const noexcept { return slot().listing.handle(); }
    [[nodiscard]] const StreamRefusal& last_refusal() const noexcept { return slot().last_refusal; }

private:
    friend class MemoryTable;
    explicit Stream(detail::StreamSlot& slot) noexcept : slot_(&slot) {}

    [[nodiscard]] detail::StreamSlot& slot() const noexcept {
        OURO_ASSERT(slot_ != nullptr, "the stream was closed or moved from");
        return *slot_;
    }
    [[nodiscard]] MemoryBlock hand_out(std::size_t offset, std::size_t size) noexcept {
        detail::StreamSlot& own = *slot_;
        own.cursor_bytes = offset + size;
        if (own.cursor_bytes > own.high_water_bytes) own.high_water_bytes = own.cursor_bytes;
        const MemoryBlock block = own.range.sub(offset, size);
        if (own.is_told) annotate::permit(block);
        return block;
    }
    [[gnu::cold, gnu::noinline]] Expected<MemoryBlock> take_slow(std::size_t size,
                                                                 std::size_t alignment) noexcept;

    detail::StreamSlot* slot_ = nullptr;
};

}  // namespace ouro
