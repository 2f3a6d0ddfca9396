#include "resource_model.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include <gtest/gtest.h>

namespace ouro::testing_support {
namespace {

// A block's bytes are a cut from a long row of random ones, so that both ways go by the fastest copying and
// comparing there is. Longer blocks are made of several cuts.
constexpr std::size_t kCutBytes = 16384;
constexpr std::size_t kCuts = 8192;

// One above another.
constexpr std::size_t kMostMarks = 3;

struct Pattern {
    Pattern() {
        Random random(0x7ADE);
        for (std::size_t i = 0; i < bytes.size(); i += sizeof(std::uint64_t)) {
            const std::uint64_t word = random.next();
            std::memcpy(bytes.data() + i, &word, sizeof(word));
        }
    }
    std::array<std::byte, kCutBytes + kCuts> bytes;
};

const std::byte* cut_for(std::uint32_t stamp, std::size_t part) {
    static const Pattern pattern;
    return pattern.bytes.data() + (stamp * std::size_t{61} + part * std::size_t{17}) % kCuts;
}

// The place of the first byte that is not as it was filled, or `bytes`.
std::size_t first_wrong_byte(const std::byte* data, std::uint32_t stamp, std::size_t bytes) {
    for (std::size_t begin = 0, part = 0; begin < bytes; begin += kCutBytes, ++part) {
        const std::size_t length = std::min(kCutBytes, bytes - begin);
        const std::byte* const cut = cut_for(stamp, part);
        if (std::memcmp(data + begin, cut, length) == 0) continue;
        return begin + static_cast<std::size_t>(std::mismatch(cut, cut + length, data + begin).first - cut);
    }
    return bytes;
}

}  // namespace

void ResourceModel::step() {
    if (limits_.uses_marks && random_.below(64) == 0)
        return marks_.size() < kMostMarks && random_.chance(0.5) ? place_mark() : free_to_mark();
    const std::uint32_t choice = random_.below(100);
    if (blocks_.size() == first_free_to_change() ||
        (choice < 50 && blocks_.size() < limits_.max_live_blocks)) {
        allocate();
    } else if (choice < 80) {
        free_one();
    } else if (choice < 92) {
        reallocate_one();
    } else {
        resize_one();
    }
}

void ResourceModel::place_mark() {
    const auto mark = resource_.place_mark();
    if (!mark) {
        limits_.uses_marks = mark.status() != Status::not_supported;
        ASSERT_TRUE(mark.status() == Status::not_supported || mark.status() == Status::capacity_exhausted)
            << status_name(mark.status());
        return;
    }
    marks_.push_back({*mark, blocks_.size()});
}

void ResourceModel::free_to_mark() {
    if (marks_.empty()) return;
    const OpenMark open = marks_.back();
    marks_.pop_back();
    for (std::size_t index = open.first; index < blocks_.size(); ++index)
        verify_stamp(blocks_[index], blocks_[index].block.size);
    blocks_.resize(open.first);
    resource_.free_since(open.mark);
    ++freed_marks_;
}

void ResourceModel::free_all() {
    while (!marks_.empty())
        free_to_mark();
    limits_.newest_only = true;
    while (!blocks_.empty())
        free_one();
}

void ResourceModel::verify_all() const {
    for (const Live& live : blocks_)
        verify_stamp(live, live.block.size);
}

bool ResourceModel::is_refusal(Status status) const {
    return status == Status::capacity_exhausted || status == Status::out_of_memory ||
           status == Status::out_of_address_space || status == Status::too_many_mappings ||
           status == limits_.other_refusal ||
           // Under a mark, a tagged block does not become smaller.
           (status == Status::busy && !marks_.empty());
}

MemoryBlock ResourceModel::as_returned(const Live& live) {
    const auto spare = static_cast<std::uint32_t>(live.block.size - live.asked);
    return {live.block.data, live.asked + (spare == 0 ? 0 : random_.below(spare + 1))};
}

std::size_t ResourceModel::random_size() {
    if (limits_.rare_size != 0 && random_.below(256) == 0) return limits_.rare_size;
    // Small sizes are the common ones.
    const std::uint32_t largest = static_cast<std::uint32_t>(limits_.max_size);
    return 1 + (random_.chance(0.8) ? random_.below(std::min(largest, 128U)) : random_.below(largest));
}

std::size_t ResourceModel::random_index() {
    const std::size_t first = first_free_to_change();
    return limits_.newest_only ? blocks_.size() - 1
                               : first + random_.below(static_cast<std::uint32_t>(blocks_.size() - first));
}

void ResourceModel::allocate() {
    const std::size_t size = random_size();
    std::size_t alignment = 1;
    while (alignment < limits_.max_alignment && random_.chance(0.6))
        alignment *= 2;
    const auto block = resource_.allocate(size, alignment);
    if (!block) {
        ++refusals_in_a_row_;
        ++refusals_;
        ASSERT_TRUE(is_refusal(block.status())) << status_name(block.status());
        return;
    }
    refusals_in_a_row_ = 0;
    const Live live{*block, size, alignment, next_stamp_++};
    verify_new(live);
    fill(live);
    blocks_.push_back(live);
}

void ResourceModel::verify_new(const Live& live) const {
    ASSERT_GE(live.block.size, live.asked);
    ASSERT_TRUE(is_aligned(live.block.data, live.alignment));
    ASSERT_TRUE(!limits_.asks_owner || resource_.owns(live.block.data));
    ASSERT_TRUE(!limits_.asks_owner || resource_.owns(live.block.end() - 1));
    for (const Live& other : blocks_)
        ASSERT_FALSE(live.block.overlaps(other.block));
}

void ResourceModel::free_one() {
    const std::size_t index = random_index();
    const Live live = blocks_[index];
    verify_stamp(live, live.block.size);
    blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(index));
    resource_.deallocate(as_returned(live), live.alignment);
}

void ResourceModel::reallocate_one() {
    const std::size_t index = random_index();
    const Live old = blocks_[index];
    verify_stamp(old, old.block.size);
    const std::size_t size = random_size();
    const MemoryBlock returned = as_returned(old);
    const auto block = resource_.reallocate(returned, size, old.alignment);
    if (!block) {
        ASSERT_TRUE(is_refusal(block.status())) << status_name(block.status());
        verify_stamp(old, old.block.size);
        return;
    }
    blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(index));
    const Live live{*block, size, old.alignment, old.stamp};
    verify_new(live);
    verify_stamp(live, std::min(returned.size, size));
    fill(live);
    blocks_.push_back(live);
}

void ResourceModel::resize_one() {
    const std::size_t index = random_index();
    Live& live = blocks_[index];
    const std::size_t size = random_size();
    const MemoryBlock returned = as_returned(live);
    const auto block = resource_.try_resize(returned, size, live.alignment);
    if (!block) {
        ASSERT_TRUE(block.status() == Status::not_supported || is_refusal(block.status()))
            << status_name(block.status());
        verify_stamp(live, live.block.size);
        return;
    }
    ASSERT_EQ(block->data, live.block.data);
    ASSERT_GE(block->size, size);
    verify_stamp(live, std::min(returned.size, size));
    live.block = *block;
    live.asked = size;
    for (std::size_t other = 0; other < blocks_.size(); ++other)
        ASSERT_TRUE(other == index || !live.block.overlaps(blocks_[other].block));
    fill(live);
}

void ResourceModel::fill(const Live& live) {
    for (std::size_t begin = 0, part = 0; begin < live.block.size; begin += kCutBytes, ++part)
        std::memcpy(live.block.data + begin, cut_for(live.stamp, part),
                    std::min(kCutBytes, live.block.size - begin));
}

void ResourceModel::verify_stamp(const Live& live, std::size_t bytes) {
    ASSERT_EQ(first_wrong_byte(live.block.data, live.stamp, bytes), bytes)
        << "the place of the first wrong byte of a block of " << live.block.size;
}

}  // namespace ouro::testing_support
