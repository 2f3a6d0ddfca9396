#include "ring_core.hpp"

#include <ouro/streams/tick_view.hpp>

#include <cstring>

namespace ouro {

TickView& TickView::operator=(TickView&& other) noexcept {
    if (this != &other) {
        if (core_ != nullptr) core_->end_view(cell_);
        core_ = std::exchange(other.core_, nullptr);
        tick_ = other.tick_;
        cell_ = other.cell_;
    }
    return *this;
}

TickView::~TickView() {
    if (core_ != nullptr) core_->end_view(cell_);
}

const std::byte* TickView::page(std::uint32_t number) const noexcept {
    OURO_ASSERT(core_ != nullptr && number < core_->image().page_count(),
                "a view has the pages of its image");
    return core_->page_at(number, cell_);
}

bool TickView::covers(std::uint64_t offset, std::uint64_t bytes) const noexcept {
    if (core_ == nullptr) return false;
    const std::uint64_t size = core_->image().block().size;
    return offset <= size && bytes <= size - offset;
}

Status TickView::read(std::uint64_t offset, std::span<std::byte> out) const noexcept {
    std::byte* to = out.data();
    return visit(offset, out.size(), [&to](std::span<const std::byte> piece) noexcept {
        std::memcpy(to, piece.data(), piece.size());
        to += piece.size();
    });
}

Expected<std::span<const std::byte>> TickView::span(std::uint64_t offset, std::size_t bytes) const noexcept {
    if (!covers(offset, bytes)) return Status::out_of_range;
    const std::byte* begin = nullptr;
    const std::byte* end = nullptr;
    bool is_one_piece = true;
    (void)visit(offset, bytes, [&](std::span<const std::byte> piece) noexcept {
        if (begin == nullptr) begin = piece.data();
        is_one_piece = is_one_piece && (end == nullptr || end == piece.data());
        end = piece.data() + piece.size();
    });
    if (!is_one_piece) return Status::not_found;
    return std::span(begin, bytes);
}

}  // namespace ouro
