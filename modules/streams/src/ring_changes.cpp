#include "page_copy.hpp"
#include "ring_core.hpp"

#include <cstring>

namespace ouro::detail {
namespace {

using Word = std::uint64_t;

// Joins words that differ into ranges, over the borders of pages too.
class RangeJoiner {
public:
    RangeJoiner(RingCore::ChangedFunction visit, void* function) noexcept
        : visit_(visit), function_(function) {}

    void add(std::uint64_t offset) noexcept {
        if (range_.bytes != 0 && range_.offset + range_.bytes == offset) {
            range_.bytes += sizeof(Word);
            return;
        }
        finish();
        range_ = {.offset = offset, .bytes = sizeof(Word)};
    }
    void finish() noexcept {
        if (range_.bytes != 0) visit_(function_, range_);
        range_ = {};
    }

private:
    RingCore::ChangedFunction visit_;
    void* function_;
    ChangedRange range_;
};

void compare_words(const std::byte* one, const std::byte* other, std::uint64_t offset,
                   RangeJoiner& joiner) noexcept {
    for (std::size_t at = 0; at < kStatePageBytes; at += sizeof(Word)) {
        if (std::memcmp(one + at, other + at, sizeof(Word)) != 0) joiner.add(offset + at);
    }
}

}  // namespace

void RingCore::changed(const TickView& from, const TickView& to, ChangedFunction visit,
                       void* function) noexcept {
    OURO_ASSERT(from.core_ != nullptr && from.core_ == to.core_, "two views of one ring are compared");
    RangeJoiner joiner(visit, function);
    const std::uint32_t pages = from.core_->image().page_count();
    for (std::uint32_t page = 0; page < pages; ++page) {
        if (from.core_->is_same_version(page, from.cell_, to.cell_)) continue;
        const std::byte* one = from.page(page);
        const std::byte* other = to.page(page);
        if (one == other || is_same_page(one, other)) continue;
        compare_words(one, other, std::uint64_t{page} << kStatePageShift, joiner);
    }
    joiner.finish();
}

}  // namespace ouro::detail
