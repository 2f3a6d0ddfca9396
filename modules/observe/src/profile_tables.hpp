#pragma once

#include <ouro/memory/tag.hpp>
#include <ouro/observe/detail/observe_image.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

// The profiler's tables, and the lock that they are changed and read under.
namespace ouro::detail {

// The tables for the length of a scope. There are none where there is no image, or in a signal handler that
// interrupted a change; a thread that forks has them already.
class ProfileScope {
public:
    ProfileScope() noexcept;
    ~ProfileScope();
    ProfileScope(const ProfileScope&) = delete;
    ProfileScope& operator=(const ProfileScope&) = delete;

    explicit operator bool() const noexcept { return profile_ != nullptr; }
    Profile& operator*() const noexcept { return *profile_; }
    Profile* operator->() const noexcept { return profile_; }

private:
    Profile* profile_ = nullptr;
    bool is_held_ = false;
};

// Once; later calls do nothing.
void keep_tables_through_forks() noexcept;

// Which samples may be those of the address; zero: none.
[[nodiscard]] std::atomic<std::uint32_t>& bucket_of(Profile& profile, std::uint64_t address) noexcept;

// All of the following require the scope.

void clear_tables(Profile& profile) noexcept;

// The site's number; zero when there is no room.
[[nodiscard]] std::uint32_t find_site(Profile& profile, Tag tag, std::span<void* const> stack) noexcept;

// Null when the block was not sampled.
[[nodiscard]] LiveSample* find_sample(Profile& profile, std::uint64_t address) noexcept;
// Null when there is no room. Requires: the block is not there.
[[nodiscard]] LiveSample* add_sample(Profile& profile, std::uint64_t address) noexcept;
void remove_sample(Profile& profile, LiveSample& sample) noexcept;

// What a block of these bytes stands for at this mean distance of samples, in fractions of a block.
[[nodiscard]] std::uint64_t weight_of(std::uint64_t bytes, std::uint64_t mean_bytes) noexcept;

[[nodiscard]] inline std::uint64_t weighted_bytes(std::uint64_t bytes, std::uint64_t weight) noexcept {
    constexpr std::uint64_t kHalf = std::uint64_t{1} << (kBlockFractionBits - 1);
    return (bytes * weight + kHalf) >> kBlockFractionBits;
}
[[nodiscard]] inline std::uint64_t weighted_bytes(const LiveSample& sample) noexcept {
    return weighted_bytes(sample.bytes, sample.weight);
}

inline void add_to_sum(ProfileSum& sum, std::uint64_t bytes, std::uint64_t fractions) noexcept {
    sum.bytes.store(sum.bytes.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
    sum.block_fractions.store(sum.block_fractions.load(std::memory_order_relaxed) + fractions,
                              std::memory_order_relaxed);
}
inline void take_from_sum(ProfileSum& sum, std::uint64_t bytes, std::uint64_t fractions) noexcept {
    add_to_sum(sum, std::uint64_t{0} - bytes, std::uint64_t{0} - fractions);
}

}  // namespace ouro::detail
