#pragma once

#include <ouro/memory/memory_resource.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

#include <gtest/gtest.h>

namespace ouro::testing_support {

struct BadRequest {
    std::size_t size;
    std::size_t alignment;
    Status status;
};

// What no resource serves, whatever it has: the same status from each of them.
inline constexpr std::array kBadRequests = {
    BadRequest{0, 16, Status::zero_size},
    // The size is looked at first, then the alignment.
    BadRequest{0, 3, Status::zero_size},
    BadRequest{16, 0, Status::bad_alignment},
    BadRequest{16, 3, Status::bad_alignment},
    BadRequest{16, 24, Status::bad_alignment},
    BadRequest{16, 2 * kMaxAlignment, Status::bad_alignment},
    BadRequest{16, std::size_t{1} << (sizeof(std::size_t) == 8 ? 40 : 31), Status::bad_alignment},
    BadRequest{16, SIZE_MAX / 2 + 1, Status::bad_alignment},
    BadRequest{16, SIZE_MAX, Status::bad_alignment},
    BadRequest{SIZE_MAX, 3, Status::bad_alignment},
    BadRequest{kMaxAllocationBytes + 1, 1, Status::size_overflow},
    BadRequest{kMaxAllocationBytes + 1, 16, Status::size_overflow},
    BadRequest{SIZE_MAX - 4096, 16, Status::size_overflow},
    BadRequest{SIZE_MAX - 15, 16, Status::size_overflow},
    BadRequest{SIZE_MAX, 16, Status::size_overflow},
    BadRequest{SIZE_MAX, 1, Status::size_overflow},
};

inline void expect_unchanged(const MemoryResource& resource, const ResourceStats& before) {
    const ResourceStats now = resource.stats();
    EXPECT_EQ(now.live_bytes, before.live_bytes);
    EXPECT_EQ(now.live_blocks, before.live_blocks);
    EXPECT_EQ(now.peak_bytes, before.peak_bytes);
    EXPECT_EQ(now.reserved_bytes, before.reserved_bytes);
    EXPECT_EQ(now.committed_bytes, before.committed_bytes);
    EXPECT_EQ(now.allocations, before.allocations);
    EXPECT_EQ(resource.check(), Status::ok);
}

// Asks for a new block, and for other sizes of one that is there. `failures_of(resource)` are those that it
// has counted.
template <class FailuresOf>
void expect_bad_requests_refused(MemoryResource& resource, FailuresOf failures_of) {
    const auto block = resource.allocate(16, 16);
    ASSERT_TRUE(block);
    const ResourceStats before = resource.stats();
    std::uint64_t failures = failures_of(resource);
    for (const BadRequest& bad : kBadRequests) {
        SCOPED_TRACE(testing::Message() << bad.size << " bytes at a multiple of " << bad.alignment);
        EXPECT_EQ(resource.allocate(bad.size, bad.alignment).status(), bad.status);
        EXPECT_EQ(failures_of(resource), ++failures) << "a failure is counted once";
        EXPECT_EQ(resource.reallocate({}, bad.size, bad.alignment).status(), bad.status);
        EXPECT_EQ(failures_of(resource), ++failures) << "of a null block too";
        if (bad.status == Status::bad_alignment) continue;
        EXPECT_EQ(resource.reallocate(*block, bad.size, 16).status(), bad.status);
        EXPECT_EQ(failures_of(resource), ++failures) << "of another size for a block too";
        // Who never changes a block in place says that instead.
        const Status resized = resource.try_resize(*block, bad.size, 16).status();
        EXPECT_TRUE(resized == bad.status || resized == Status::not_supported) << status_name(resized);
        EXPECT_EQ(failures_of(resource), failures) << "a block that stays as it is is no failure";
    }
    expect_unchanged(resource, before);
    resource.deallocate(*block, 16);
}
inline void expect_bad_requests_refused(MemoryResource& resource) {
    expect_bad_requests_refused(resource, [](const MemoryResource& asked) { return asked.stats().failures; });
}

// The largest that makes sense: there is not so much, which is another thing.
inline void expect_shortage_of_the_largest(MemoryResource& resource) {
    const auto before = resource.stats();
    for (const std::size_t size : {kMaxAllocationBytes / 2, kMaxAllocationBytes - 4096}) {
        const Status status = resource.allocate(size, 16).status();
        EXPECT_TRUE(status == Status::capacity_exhausted || status == Status::out_of_memory ||
                    status == Status::out_of_address_space)
            << size << " bytes: " << status_name(status);
    }
    EXPECT_EQ(resource.stats().live_bytes, before.live_bytes);
    EXPECT_EQ(resource.check(), Status::ok);
}

}  // namespace ouro::testing_support
