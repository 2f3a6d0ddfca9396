#pragma once

#include <ouro/base/memory_block.hpp>
#include <ouro/memory/call_sites.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace ouro {

// Blocks that nobody has freed, put together by the place that allocated them. Takes no memory of its own.
class LeakReport {
public:
    static constexpr std::size_t kMaxGroups = 128;

    struct Group {
        std::string_view resource{};
        CallSites allocated_at{};
        // One of them.
        MemoryBlock block{};
        // Of each of them; 0 where they differ.
        std::size_t alignment = 0;
        std::size_t blocks = 0;
        std::size_t bytes = 0;
    };

    // What does not fit into the groups any more is counted only.
    void add(std::string_view resource, MemoryBlock block, std::size_t alignment,
             const CallSites& allocated_at) noexcept;

    [[nodiscard]] bool is_empty() const noexcept { return blocks_ == 0; }
    [[nodiscard]] std::size_t blocks() const noexcept { return blocks_; }
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
    // The largest first, after sort().
    [[nodiscard]] std::span<const Group> groups() const noexcept { return {groups_.data(), group_count_}; }
    void sort() noexcept;

    // To standard error: the sum, then each group with its call sites.
    void print() const noexcept;

private:
    std::array<Group, kMaxGroups> groups_;
    std::size_t group_count_ = 0;
    std::size_t blocks_ = 0;
    std::size_t bytes_ = 0;
};

// The live blocks of all guarded allocators (tiers checked and hardened) whose upstreams free single blocks.
[[nodiscard]] LeakReport collect_leaks() noexcept;

// When the program ends in an orderly way, prints what is live then, if anything. Guarded allocators that end
// before tell of their own leaks. Call it before making what should be alive at that moment: things end in
// the opposite order. False when the system refuses.
bool report_leaks_at_exit() noexcept;

}  // namespace ouro
