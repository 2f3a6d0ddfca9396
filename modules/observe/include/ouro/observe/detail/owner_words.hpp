#pragma once

#include <atomic>
#include <cstdint>

// What a thread does to words that it alone changes, or nearly so, while others read them. It is the same as
// relaxed loads and stores; but compilers make three instructions of those where the processor has one, on
// paths that have some dozen.

// ThreadSanitizer shall see the accesses.
#if defined(__has_feature)
#    if __has_feature(thread_sanitizer)
#        define OURO_PLAIN_WORDS 1
#    endif
#endif
#if defined(__x86_64__) && !defined(OURO_PLAIN_WORDS)
#    define OURO_SINGLE_INSTRUCTIONS 1
#else
#    define OURO_SINGLE_INSTRUCTIONS 0
#endif

namespace ouro::detail {

// No locked instruction: an addition by somebody else at the same moment may be lost.
template <class Number, class Amount>
inline void add_to(std::atomic<Number>& sum, Amount amount) noexcept {
#if OURO_SINGLE_INSTRUCTIONS
    static_assert(sizeof(Number) == sizeof(std::int64_t));
    asm("addq %[amount], %[sum]" : [sum] "+m"(sum) : [amount] "er"(static_cast<Number>(amount)) : "cc");
#else
    sum.store(sum.load(std::memory_order_relaxed) + static_cast<Number>(amount), std::memory_order_relaxed);
#endif
}

// The same the other way; true when the difference is below nothing.
[[nodiscard]] inline bool take_from(std::atomic<std::int64_t>& left, std::int64_t amount) noexcept {
#if OURO_SINGLE_INSTRUCTIONS
    bool is_negative = false;
    asm("subq %[amount], %[left]" : [left] "+m"(left), "=@ccs"(is_negative) : [amount] "er"(amount));
    return is_negative;
#else
    const std::int64_t rest = left.load(std::memory_order_relaxed) - amount;
    left.store(rest, std::memory_order_relaxed);
    return rest < 0;
#endif
}

[[nodiscard]] inline bool is_below(std::int64_t value, const std::atomic<std::int64_t>& bound) noexcept {
#if OURO_SINGLE_INSTRUCTIONS
    bool is_less = false;
    asm("cmpq %[bound], %[value]" : "=@ccl"(is_less) : [value] "r"(value), [bound] "m"(bound));
    return is_less;
#else
    return value < bound.load(std::memory_order_relaxed);
#endif
}

[[nodiscard]] inline bool is_above(std::int64_t value, const std::atomic<std::int64_t>& bound) noexcept {
#if OURO_SINGLE_INSTRUCTIONS
    bool is_greater = false;
    asm("cmpq %[bound], %[value]" : "=@ccg"(is_greater) : [value] "r"(value), [bound] "m"(bound));
    return is_greater;
#else
    return value > bound.load(std::memory_order_relaxed);
#endif
}

}  // namespace ouro::detail
