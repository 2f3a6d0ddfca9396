#include "page_range.hpp"

#include <ouro/os/reservation.hpp>

#include <utility>

namespace ouro::os {
namespace {

// How much more to reserve so that the block can have guards and still be aligned.
struct Layout {
    std::size_t bytes = 0;
    std::size_t guard_bytes = 0;
    std::size_t whole_bytes = 0;
};

Expected<Layout> lay_out(const ReserveRequest& request, std::size_t guard_bytes) noexcept {
    const auto guard = checked_align_up(guard_bytes, page_size());
    if (!guard) return guard.status();
    const std::size_t slack = request.address == nullptr ? request.alignment - page_size() : 0;
    const auto guards = checked_multiply<std::size_t>(*guard, 2);
    const auto margin = guards ? checked_add(*guards, slack) : guards;
    const auto whole = margin ? checked_add(request.bytes, *margin) : margin;
    if (!whole) return whole.status();
    return Layout{request.bytes, *guard, *whole};
}

}  // namespace

Expected<Reservation> Reservation::create(const ReserveRequest& request, std::size_t guard_bytes) noexcept {
    const auto complete = complete_request(request);
    if (!complete) return complete.status();
    if (guard_bytes == 0) {
        const auto block = reserve(*complete);
        if (!block) return block.status();
        return Reservation(*block, *block, 0);
    }
    const auto layout = lay_out(*complete, guard_bytes);
    if (!layout) return layout.status();
    auto* address = static_cast<std::byte*>(complete->address);
    if (address != nullptr) {
        if (reinterpret_cast<std::uintptr_t>(address) <= layout->guard_bytes) return Status::bad_address;
        address -= layout->guard_bytes;
    }
    const auto whole = reserve({.bytes = layout->whole_bytes, .address = address});
    if (!whole) return whole.status();
    std::byte* first = whole->data + layout->guard_bytes;
    if (address == nullptr) first += padding_to(first, complete->alignment);
    return Reservation(*whole, MemoryBlock{first, layout->bytes}, layout->guard_bytes);
}

Reservation::Reservation(Reservation&& other) noexcept
    : whole_(std::exchange(other.whole_, {})),
      block_(std::exchange(other.block_, {})),
      guard_bytes_(std::exchange(other.guard_bytes_, 0)) {}

Reservation& Reservation::operator=(Reservation&& other) noexcept {
    if (this != &other) {
        std::destroy_at(this);
        std::construct_at(this, std::move(other));
    }
    return *this;
}

Reservation::~Reservation() {
    if (whole_.is_null()) return;
    const Status released = release(whole_).status();
    if (released == Status::ok) return;
    // The system may have joined the range with a neighbour: taking it out again needs one mapping more, and
    // there may be none. The addresses then stay taken; the memory behind them goes back all the same.
    OURO_DEBUG_ASSERT(released == Status::too_many_mappings, "an owned reservation could not be released");
    static_cast<void>(discard(whole_));
}

Expected<void> Reservation::commit(std::size_t offset, std::size_t bytes) noexcept {
    const auto range = part(offset, bytes);
    return range ? os::commit(*range) : range.status();
}

Expected<void> Reservation::decommit(std::size_t offset, std::size_t bytes) noexcept {
    const auto range = part(offset, bytes);
    return range ? os::decommit(*range) : range.status();
}

Expected<MemoryBlock> Reservation::part(std::size_t offset, std::size_t bytes) const noexcept {
    if (offset > block_.size || bytes > block_.size - offset) return Status::out_of_range;
    return MemoryBlock{block_.data + offset, bytes};
}

}  // namespace ouro::os
