#include <ouro/memory/annotations.hpp>
#include <ouro/memory/growing_range.hpp>
#include <ouro/memory/seal.hpp>

#include <algorithm>
#include <memory>
#include <utility>

namespace ouro {

Expected<GrowingRange> GrowingRange::reserve(const Options& options) noexcept {
    const auto step = checked_align_up(options.step_bytes, os::page_size());
    if (!step) return step.status();
    auto own = os::Reservation::create({.bytes = options.max_bytes}, os::page_size());
    if (!own) return own.status();
    GrowingRange range;
    range.whole_ = own->block();
    range.own_ = *std::move(own);
    range.step_bytes_ = std::max(*step, os::page_size());
    range.listing_ = BlockRegistration({.name = options.name,
                                        .tag = options.tag,
                                        .base = range.whole_.data,
                                        .reserved_bytes = range.whole_.size});
    return range;
}

Expected<GrowingRange> GrowingRange::borrow(MemoryResource& upstream, std::size_t bytes, const char* name,
                                            Tag tag) noexcept {
    const auto block = upstream.allocate(bytes, kDefaultAlignment);
    if (!block) return block.status();
    GrowingRange range;
    range.upstream_ = &upstream;
    range.whole_ = *block;
    range.usable_bytes_ = block->size;
    range.listing_ = BlockRegistration({.name = name,
                                        .tag = tag,
                                        .kind = BlockKind::borrowed,
                                        .base = block->data,
                                        .reserved_bytes = block->size,
                                        .committed_bytes = block->size});
    return range;
}

GrowingRange::GrowingRange(GrowingRange&& other) noexcept
    : own_(std::move(other.own_)),
      upstream_(std::exchange(other.upstream_, nullptr)),
      whole_(std::exchange(other.whole_, {})),
      usable_bytes_(std::exchange(other.usable_bytes_, 0)),
      step_bytes_(other.step_bytes_),
      is_told_(std::exchange(other.is_told_, false)),
      pool_offset_(other.pool_offset_),
      listing_(std::move(other.listing_)) {}

GrowingRange& GrowingRange::operator=(GrowingRange&& other) noexcept {
    if (this != &other) {
        std::destroy_at(this);
        std::construct_at(this, std::move(other));
    }
    return *this;
}

GrowingRange::~GrowingRange() {
    // A block is not listed any more when somebody else may get it.
    listing_ = {};
    // Who told sanitizers of blocks alone leaves the free ones forbidden, for whoever gets the addresses
    // next.
    if (!whole_.is_null()) annotate::permit_written({whole_.data, usable_bytes_});
    if (is_told_) annotate::pool_destroyed(pool(), {whole_.data, usable_bytes_});
    if (upstream_ != nullptr) upstream_->deallocate(whole_, kDefaultAlignment);
}

void GrowingRange::tell_sanitizers() noexcept {
    pool_offset_ = annotate::pool_name_offset(whole_.data);
    annotate::pool_created(pool(), {whole_.data, usable_bytes_});
    is_told_ = true;
}

Expected<void> GrowingRange::grow(std::size_t bytes) noexcept {
    if (bytes <= usable_bytes_) return {};
    if (bytes > whole_.size) return Status::capacity_exhausted;
    if (const Status growth = check_unsealed(); growth != Status::ok) return growth;
    const std::size_t least = std::max(bytes - usable_bytes_, step_bytes_);
    const std::size_t room = whole_.size - usable_bytes_;
    const std::size_t more = least < room ? align_up(least, os::page_size()) : room;
    const auto committed = own_.commit(usable_bytes_, more);
    if (!committed) return committed;
    if (is_told_) annotate::forbid({whole_.data + usable_bytes_, more});
    usable_bytes_ += more;
    return {};
}

Expected<void> GrowingRange::prewarm(std::size_t offset, std::size_t bytes) noexcept {
    if (bytes == 0) return {};
    const auto end = checked_add(offset, bytes);
    if (!end) return Status::capacity_exhausted;
    const auto grown = grow(*end);
    if (!grown) return grown;
    const std::size_t first = align_down(offset, os::page_size());
    const std::size_t behind = std::min(align_up(*end, os::page_size()), usable_bytes_);
    return os::prefault({whole_.data + first, behind - first});
}

void GrowingRange::shrink(std::size_t bytes) noexcept {
    // Under a seal what is given back could not be had again.
    if (upstream_ != nullptr || bytes >= usable_bytes_ || is_sealed()) return;
    const std::size_t kept = align_up(bytes, os::page_size());
    if (kept >= usable_bytes_) return;
    // When the system refuses, the memory simply stays.
    if (!own_.decommit(kept, usable_bytes_ - kept)) return;
    // Whoever maps something here later knows nothing of us.
    annotate::permit_written({whole_.data + kept, usable_bytes_ - kept});
    usable_bytes_ = kept;
}

}  // namespace ouro
