#include <ouro/memory/rate_limit.hpp>

namespace ouro {
namespace {

constexpr unsigned kUsedBits = 40;
constexpr std::uint64_t kUsedMask = (std::uint64_t{1} << kUsedBits) - 1;
constexpr std::uint64_t kNumberMask = ~std::uint64_t{0} >> kUsedBits;

// A thread may come with a time read a little before another's: it counts in the newer interval. All else
// that looks older is a number that began anew, long after the last request or with intervals of another
// length.
bool is_older(std::uint64_t number, std::uint64_t than) noexcept {
    constexpr std::uint64_t kMostBehind = 4;
    const std::uint64_t behind = (than - number) & kNumberMask;
    return behind != 0 && behind <= kMostBehind;
}

bool take(std::atomic<std::uint64_t>& word, std::uint64_t number, std::uint64_t amount,
          std::uint64_t limit) noexcept {
    if (limit == RateLimit::kNone) return true;
    std::uint64_t seen = word.load(std::memory_order_relaxed);
    for (;;) {
        const std::uint64_t current = seen >> kUsedBits;
        const bool same = current == number || is_older(number, current);
        const std::uint64_t used = same ? seen & kUsedMask : 0;
        if (amount > limit || used > limit - amount) return false;
        const std::uint64_t next = (same ? current : number) << kUsedBits | (used + amount);
        if (word.compare_exchange_weak(seen, next, std::memory_order_relaxed)) return true;
    }
}

void give_back(std::atomic<std::uint64_t>& word, std::uint64_t number, std::uint64_t amount) noexcept {
    std::uint64_t seen = word.load(std::memory_order_relaxed);
    while (seen >> kUsedBits == number && (seen & kUsedMask) >= amount) {
        if (word.compare_exchange_weak(seen, seen - amount, std::memory_order_relaxed)) return;
    }
}

}  // namespace

Expected<void> RateGate::set(const RateLimit& limit) noexcept {
    const auto is_kept = [](std::uint64_t value) {
        return value == RateLimit::kNone || value <= RateLimit::kMax;
    };
    if (limit.interval_ns == 0 || limit.clock == nullptr || !is_kept(limit.bytes) || !is_kept(limit.calls))
        return Status::bad_argument;
    bytes_limit_.store(limit.bytes, std::memory_order_relaxed);
    calls_limit_.store(limit.calls, std::memory_order_relaxed);
    interval_ns_.store(limit.interval_ns, std::memory_order_relaxed);
    clock_.store(limit.clock, std::memory_order_relaxed);
    // Numbers of intervals of another length mean nothing among the new ones.
    bytes_used_.store(0, std::memory_order_relaxed);
    calls_used_.store(0, std::memory_order_relaxed);
    active_.store(true, std::memory_order_release);
    return {};
}

bool RateGate::admit_counted(std::size_t bytes) noexcept {
    const std::uint64_t now = clock_.load(std::memory_order_relaxed)();
    const std::uint64_t number = now / interval_ns_.load(std::memory_order_relaxed) & kNumberMask;
    const std::uint64_t calls_limit = calls_limit_.load(std::memory_order_relaxed);
    if (!take(calls_used_, number, 1, calls_limit)) return false;
    if (take(bytes_used_, number, bytes, bytes_limit_.load(std::memory_order_relaxed))) return true;
    if (calls_limit != RateLimit::kNone) give_back(calls_used_, number, 1);
    return false;
}

}  // namespace ouro
