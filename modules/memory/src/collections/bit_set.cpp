#include <ouro/memory/collections/bit_set.hpp>

#include <algorithm>
#include <utility>

namespace ouro {

namespace {

// A line: whole vectors can be loaded from the start on.
constexpr std::size_t kWordsAlignment = 64;

}  // namespace

Expected<BitSet> BitSet::create(Allocator allocator, std::size_t bits) noexcept {
    BitSet set(allocator);
    const Status status = set.resize(bits);
    if (status != Status::ok) return status;
    return set;
}

Expected<BitSet> BitSet::clone() const noexcept {
    auto copy = create(allocator_, size_);
    if (copy) std::ranges::copy(words(), copy->words().begin());
    return copy;
}

Status BitSet::change_capacity(std::size_t words) noexcept {
    const auto changed = allocator_.reallocate(block(), words * sizeof(std::uint64_t), kWordsAlignment);
    if (!changed) return changed.status();
    words_ = reinterpret_cast<std::uint64_t*>(changed->data);
    capacity_words_ = changed->size / sizeof(std::uint64_t);
    return Status::ok;
}

Status BitSet::resize(std::size_t bits) noexcept {
    const std::size_t old_words = words_for_bits(size_);
    const std::size_t new_words = words_for_bits(bits);
    if (new_words > capacity_words_) {
        const Status grown = change_capacity(new_words);
        if (grown != Status::ok) return grown;
    }
    if (new_words > old_words) std::fill(words_ + old_words, words_ + new_words, std::uint64_t{0});
    size_ = bits;
    // Bits beyond the size are clear, also those that were within it before.
    if (bits % 64 != 0) words_[new_words - 1] &= low_mask<std::uint64_t>(static_cast<unsigned>(bits % 64));
    return Status::ok;
}

Status BitSet::shrink_to_fit() noexcept {
    const std::size_t needed = words_for_bits(size_);
    if (needed == capacity_words_) return Status::ok;
    if (needed != 0) return change_capacity(needed);
    give_back();
    words_ = nullptr;
    capacity_words_ = 0;
    return Status::ok;
}

void BitSet::give_back() noexcept {
    if (words_ != nullptr) allocator_.deallocate(block(), kWordsAlignment);
}

void BitSet::swap(BitSet& other) noexcept {
    std::swap(allocator_, other.allocator_);
    std::swap(words_, other.words_);
    std::swap(size_, other.size_);
    std::swap(capacity_words_, other.capacity_words_);
}

}  // namespace ouro
