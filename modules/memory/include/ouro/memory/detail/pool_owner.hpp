#pragma once

#include <ouro/memory/detail/thread_mark.hpp>
#include <ouro/memory/memory_resource.hpp>

#include <atomic>

namespace ouro::detail {

// Which thread a pool belongs to: the one that made it, until another binds it to itself. Where there is one
// thread only, nothing.
template <ThreadSafety kSafety>
class PoolOwner {
public:
    PoolOwner() noexcept : mark_(this_thread_mark()) {}
    // Requires: no other thread asks meanwhile.
    PoolOwner(const PoolOwner& other) noexcept : mark_(other.mark_.load(std::memory_order_relaxed)) {}
    PoolOwner& operator=(const PoolOwner& other) noexcept {
        mark_.store(other.mark_.load(std::memory_order_relaxed), std::memory_order_relaxed);
        return *this;
    }
    ~PoolOwner() = default;

    [[nodiscard]] bool is_this_thread() const noexcept {
        return mark_.load(std::memory_order_relaxed) == this_thread_mark();
    }
    void bind_to_this_thread() noexcept { mark_.store(this_thread_mark(), std::memory_order_relaxed); }

private:
    std::atomic<const void*> mark_;
};

template <>
class PoolOwner<ThreadSafety::single_thread> {
public:
    [[nodiscard]] static constexpr bool is_this_thread() noexcept { return true; }
    static constexpr void bind_to_this_thread() noexcept {}
};

}  // namespace ouro::detail
