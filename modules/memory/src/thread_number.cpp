#include <ouro/base/hash.hpp>
#include <ouro/memory/detail/thread_number.hpp>

#include <atomic>

namespace ouro::detail {
namespace {

constinit std::atomic<std::uint64_t> g_taken = 0;

}  // namespace

std::uint64_t take_thread_number() noexcept {
    // Where shared libraries bring copies of this library that do not know each other, each counts from
    // somewhere else, so that the threads of one are not taken for those of another.
    const std::uint64_t start = mix_bits(reinterpret_cast<std::uintptr_t>(&g_taken));
    std::uint64_t number = 0;
    while (number == 0)
        number = start + g_taken.fetch_add(1, std::memory_order_relaxed);
    return t_thread_number = number;
}

}  // namespace ouro::detail
