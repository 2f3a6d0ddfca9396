#pragma once

#include <ouro/memory/detail/thread_number.hpp>
#include <ouro/memory/memory_resource.hpp>

#include <atomic>
#include <cstdint>

namespace ouro::detail {

// Which thread a pool belongs to: the one that made it, until another binds it to itself. Where there is one
// thread only, nothing.
template <ThreadSafety kSafety>
class PoolOwner {
public:
    PoolOwner() noexcept : number_(owning_thread_number()) {}
    // Requires: no other thread asks meanwhile.
    PoolOwner(const PoolOwner& other) noexcept : number_(other.number()) {}
    PoolOwner& operator=(const PoolOwner& other) noexcept {
        number_.store(other.number(), std::memory_order_relaxed);
        return *this;
    }
    ~PoolOwner() = default;

    [[nodiscard]] bool is_this_thread() const noexcept { return detail::is_this_thread(number()); }
    void bind_to_this_thread() noexcept { number_.store(owning_thread_number(), std::memory_order_relaxed); }

private:
    [[nodiscard]] std::uint64_t number() const noexcept { return number_.load(std::memory_order_relaxed); }

    std::atomic<std::uint64_t> number_;
};

template <>
class PoolOwner<ThreadSafety::single_thread> {
public:
    [[nodiscard]] static constexpr bool is_this_thread() noexcept { return true; }
    static constexpr void bind_to_this_thread() noexcept {}
};

}  // namespace ouro::detail
