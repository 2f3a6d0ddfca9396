#include "resource_model.hpp"

#include <algorithm>
#include <cstring>

#include <gtest/gtest.h>

namespace ouro::testing_support {

void ResourceModel::step() {
    const std::uint32_t choice = random_.below(100);
    if (blocks_.empty() || (choice < 50 && blocks_.size() < limits_.max_live_blocks)) {
        allocate();
    } else if (choice < 80) {
        free_one();
    } else if (choice < 92) {
        reallocate_one();
    } else {
        resize_one();
    }
}

void ResourceModel::free_all() {
    limits_.newest_only = true;
    while (!blocks_.empty())
        free_one();
}

std::size_t ResourceModel::random_size() {
    // Small sizes are the common ones.
    const std::uint32_t largest = static_cast<std::uint32_t>(limits_.max_size);
    return 1 + (random_.chance(0.8) ? random_.below(std::min(largest, 128U)) : random_.below(largest));
}

std::size_t ResourceModel::random_index() {
    return limits_.newest_only ? blocks_.size() - 1
                               : random_.below(static_cast<std::uint32_t>(blocks_.size()));
}

void ResourceModel::allocate() {
    const std::size_t size = random_size();
    std::size_t alignment = 1;
    while (alignment < limits_.max_alignment && random_.chance(0.6))
        alignment *= 2;
    const auto block = resource_.allocate(size, alignment);
    if (!block) {
        ASSERT_TRUE(block.status() == Status::capacity_exhausted || block.status() == Status::out_of_memory);
        return;
    }
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
    resource_.deallocate(live.block, live.alignment);
}

void ResourceModel::reallocate_one() {
    const std::size_t index = random_index();
    const Live old = blocks_[index];
    verify_stamp(old, old.block.size);
    const std::size_t size = random_size();
    const auto block = resource_.reallocate(old.block, size, old.alignment);
    if (!block) {
        verify_stamp(old, old.block.size);
        return;
    }
    blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(index));
    const Live live{*block, size, old.alignment, old.stamp};
    verify_new(live);
    verify_stamp(live, std::min(old.block.size, size));
    fill(live);
    blocks_.push_back(live);
}

void ResourceModel::resize_one() {
    const std::size_t index = random_index();
    Live& live = blocks_[index];
    const std::size_t size = random_size();
    const auto block = resource_.try_resize(live.block, size, live.alignment);
    if (!block) {
        ASSERT_TRUE(block.status() == Status::not_supported || block.status() == Status::capacity_exhausted ||
                    block.status() == Status::out_of_memory)
            << status_name(block.status());
        verify_stamp(live, live.block.size);
        return;
    }
    ASSERT_EQ(block->data, live.block.data);
    ASSERT_GE(block->size, size);
    verify_stamp(live, std::min(live.block.size, size));
    live.block = *block;
    live.asked = size;
    for (std::size_t other = 0; other < blocks_.size(); ++other)
        ASSERT_TRUE(other == index || !live.block.overlaps(blocks_[other].block));
    fill(live);
}

void ResourceModel::fill(const Live& live) {
    std::memset(live.block.data, live.stamp, live.block.size);
}

void ResourceModel::verify_stamp(const Live& live, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) {
        ASSERT_EQ(static_cast<unsigned>(live.block.data[i]), live.stamp)
            << "byte " << i << " of " << live.block.size;
    }
}

}  // namespace ouro::testing_support
