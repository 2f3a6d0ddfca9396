#include "strict_resource.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include <gtest/gtest.h>

namespace ouro::testing_support {
namespace {

// What no test needs, so that nobody's machine is filled by a request that should have been refused.
constexpr std::size_t kLimitBytes = std::size_t{256} << 20;

}  // namespace

StrictResource::~StrictResource() {
    EXPECT_EQ(live_.size(), 0U) << "blocks were not returned";
}

void StrictResource::fail_calls(std::uint64_t first, std::uint64_t end) noexcept {
    calls_ = 0;
    first_failing_ = first;
    end_failing_ = end;
}

bool StrictResource::fails_now() noexcept {
    const std::uint64_t call = calls_++;
    return call >= first_failing_ && call < end_failing_;
}

Expected<MemoryBlock> StrictResource::allocate(std::size_t size, std::size_t alignment) noexcept {
    const Status asked = check_allocation(size, alignment);
    if (asked != Status::ok) return asked;
    if (fails_now()) return Status::out_of_memory;
    if (size > kLimitBytes) return Status::capacity_exhausted;
    const std::size_t given = exact_ ? size : size + ++allocations_ % 3 * 8;
    auto* const data = static_cast<std::byte*>(::operator new(given, std::align_val_t(alignment)));
    std::memset(data, 0xA5, given);
    live_[data] = {size, given, alignment};
    live_bytes_ += given;
    return MemoryBlock{data, given};
}

bool StrictResource::matches(MemoryBlock block, std::size_t alignment) const noexcept {
    const auto found = live_.find(block.data);
    const bool known = found != live_.end();
    EXPECT_TRUE(known) << "a block that is not live was returned";
    if (!known) return false;
    EXPECT_EQ(found->second.alignment, alignment);
    EXPECT_GE(block.size, found->second.asked);
    EXPECT_LE(block.size, found->second.given);
    return true;
}

void StrictResource::deallocate(MemoryBlock block, std::size_t alignment) noexcept {
    if (block.is_null() || !matches(block, alignment)) return;
    const auto found = live_.find(block.data);
    live_bytes_ -= found->second.given;
    std::memset(block.data, 0xDD, found->second.given);
    live_.erase(found);
    ::operator delete(block.data, std::align_val_t(alignment));
}

Expected<MemoryBlock> StrictResource::reallocate(MemoryBlock block, std::size_t new_size,
                                                 std::size_t alignment) noexcept {
    if (!block.is_null() && !matches(block, alignment)) return Status::bad_address;
    return move_to_new_block(*this, block, new_size, alignment);
}

bool StrictResource::owns(const void* address) const noexcept {
    return std::any_of(live_.begin(), live_.end(), [&](const auto& entry) {
        return MemoryBlock{entry.first, entry.second.given}.contains(address);
    });
}

ResourceStats StrictResource::stats() const noexcept {
    return {.live_bytes = live_bytes_, .live_blocks = live_.size()};
}

}  // namespace ouro::testing_support
