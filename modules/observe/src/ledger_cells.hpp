#pragma once

#include <ouro/memory/tag.hpp>
#include <ouro/observe/detail/ledger_paths.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

// The cells of a shard that belong to some tags.
namespace ouro::detail {

// A tag and those below it.
class TagSet {
public:
    explicit TagSet(Tag top) noexcept {
        const std::size_t count = tag_count();
        for (std::size_t id = top.id(); id < count; ++id) {
            if (is_tag_within(Tag::from_id(static_cast<std::uint16_t>(id)), top))
                bits_[id / 64] |= std::uint64_t{1} << id % 64;
        }
    }
    [[nodiscard]] std::uint64_t word(std::size_t index) const noexcept { return bits_[index]; }

private:
    std::array<std::uint64_t, kMaxTags / 64> bits_{};
};

// Calls visit(id) for the used cells of the tags.
template <class Visit>
void visit_cells(const LedgerShard& shard, const TagSet& tags, Visit&& visit) noexcept {
    for (std::size_t word = 0; word < shard.used_tags.size(); ++word) {
        std::uint64_t bits = shard.used_tags[word].load(std::memory_order_acquire) & tags.word(word);
        for (; bits != 0; bits &= bits - 1)
            visit(word * 64 + static_cast<std::size_t>(std::countr_zero(bits)));
    }
}

}  // namespace ouro::detail
