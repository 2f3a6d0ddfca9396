#pragma once

#include <atomic>
#include <cstdint>

namespace ouro::detail {

// A number that one thread at a time adds to and any thread reads.
class Counter {
public:
    void add(std::uint64_t amount) noexcept {
        value_.store(value_.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
    }
    // By several threads at once.
    void add_shared(std::uint64_t amount) noexcept { value_.fetch_add(amount, std::memory_order_relaxed); }
    [[nodiscard]] std::uint64_t value() const noexcept { return value_.load(std::memory_order_relaxed); }

private:
    std::atomic<std::uint64_t> value_{0};
};

}  // namespace ouro::detail
