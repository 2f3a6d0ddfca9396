#include "os/os_suite.hpp"

#include <emmintrin.h>
#include <x86intrin.h>

namespace ouro::bench {

void copy_streaming(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
    const auto* source = reinterpret_cast<const __m128i*>(from);
    auto* target = reinterpret_cast<__m128i*>(to);
    for (std::size_t i = 0; i < bytes / sizeof(__m128i); i += 4) {
        const __m128i a = _mm_load_si128(source + i);
        const __m128i b = _mm_load_si128(source + i + 1);
        const __m128i c = _mm_load_si128(source + i + 2);
        const __m128i d = _mm_load_si128(source + i + 3);
        _mm_stream_si128(target + i, a);
        _mm_stream_si128(target + i + 1, b);
        _mm_stream_si128(target + i + 2, c);
        _mm_stream_si128(target + i + 3, d);
    }
}

void finish_streaming() noexcept {
    _mm_sfence();
}

std::uint64_t read_cycle_counter() noexcept {
    return __rdtsc();
}

std::uint64_t read_cycle_counter_in_order() noexcept {
    _mm_lfence();
    const std::uint64_t now = __rdtsc();
    _mm_lfence();
    return now;
}

}  // namespace ouro::bench
