#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/streams/state_page.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace ouro {

namespace detail {
class RingCore;
}

// A past tick of a StateRing, to be read from any thread while the simulation goes on: its bytes stay as long
// as the view lives, whatever is committed, given up or rolled back meanwhile; and nothing of that ever waits
// for a view. Movable; one thread at a time uses a view, and the ring outlives it.
class TickView {
public:
    constexpr TickView() noexcept = default;
    TickView(TickView&& other) noexcept
        : core_(std::exchange(other.core_, nullptr)), tick_(other.tick_), cell_(other.cell_) {}
    TickView& operator=(TickView&& other) noexcept;
    ~TickView();

    [[nodiscard]] Tick tick() const noexcept { return tick_; }

    // One page as it was, kStatePageBytes long, for the life of the view. Requires: the page is in the image.
    [[nodiscard]] const std::byte* page(std::uint32_t number) const noexcept;

    // Copies a range of the image, wherever its pages are kept. out_of_range when it is not all in the image.
    [[nodiscard]] Status read(std::uint64_t offset, std::span<std::byte> out) const noexcept;

    // The range itself, without a copy, where it was kept in one piece: always within one page. Fails with
    // out_of_range, and with not_found where it lies in pieces (read it, or take it page by page).
    [[nodiscard]] Expected<std::span<const std::byte>> span(std::uint64_t offset,
                                                            std::size_t bytes) const noexcept;

    // Calls with each piece of a range in order: a std::span<const std::byte>. out_of_range as above.
    template <class Visit>
    Status visit(std::uint64_t offset, std::uint64_t bytes, Visit&& visit_piece) const
        noexcept(noexcept(visit_piece(std::span<const std::byte>()))) {
        if (!covers(offset, bytes)) return Status::out_of_range;
        while (bytes != 0) {
            const std::uint64_t within = offset % kStatePageBytes;
            const std::uint64_t piece = bytes < kStatePageBytes - within ? bytes : kStatePageBytes - within;
            visit_piece(std::span(page(static_cast<std::uint32_t>(offset >> kStatePageShift)) + within,
                                  static_cast<std::size_t>(piece)));
            offset += piece;
            bytes -= piece;
        }
        return Status::ok;
    }

private:
    friend class detail::RingCore;
    TickView(detail::RingCore& core, Tick tick, std::uint32_t cell) noexcept
        : core_(&core), tick_(tick), cell_(cell) {}

    [[nodiscard]] bool covers(std::uint64_t offset, std::uint64_t bytes) const noexcept;

    detail::RingCore* core_ = nullptr;
    Tick tick_ = 0;
    std::uint32_t cell_ = 0;
};

}  // namespace ouro
