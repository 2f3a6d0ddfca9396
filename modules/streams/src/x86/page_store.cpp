#include "page_copy.hpp"

#include <ouro/streams/state_page.hpp>

#include <emmintrin.h>

namespace ouro::detail {

void store_page(std::byte* version, const std::byte* page) noexcept {
    constexpr std::size_t kLine = 64;
    for (std::size_t at = 0; at < kStatePageBytes; at += kLine) {
        const auto* from = reinterpret_cast<const __m128i*>(page + at);
        auto* to = reinterpret_cast<__m128i*>(version + at);
        const __m128i a = _mm_load_si128(from);
        const __m128i b = _mm_load_si128(from + 1);
        const __m128i c = _mm_load_si128(from + 2);
        const __m128i d = _mm_load_si128(from + 3);
        _mm_stream_si128(to, a);
        _mm_stream_si128(to + 1, b);
        _mm_stream_si128(to + 2, c);
        _mm_stream_si128(to + 3, d);
    }
}

void finish_stores() noexcept {
    _mm_sfence();
}

}  // namespace ouro::detail
