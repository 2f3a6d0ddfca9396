#pragma once

#include "harness/measure.hpp"

#include <cstddef>
#include <cstdint>

namespace ouro::bench {

inline constexpr std::size_t kFrameBytes = std::size_t{64} << 20;
// Objects in a frame; each is touched once, as whoever allocates it would. The small frame stays in the cache
// and shows the allocation itself; the large one does not, and shows what is left of the difference beside
// the misses.
inline constexpr std::uint64_t kSmallFrame = 2'000;
inline constexpr std::uint64_t kLargeFrame = 100'000;

// Allocates objects of one size and writes a byte of each; ends the frame whenever it is full. Equal work for
// all.
template <class Allocate, class EndFrame>
[[nodiscard]] Work frames_of(std::uint64_t objects, Allocate allocate, EndFrame end_frame) {
    return [=](Round& round) {
        std::uint64_t sum = 0;
        round.time([&] {
            std::uint64_t in_frame = 0;
            for (std::uint64_t i = 0; i < round.operations(); ++i) {
                auto* object = static_cast<volatile unsigned char*>(allocate());
                *object = static_cast<unsigned char>(i);
                sum += *object;
                if (++in_frame == objects) {
                    end_frame();
                    in_frame = 0;
                }
            }
        });
        end_frame();
        round.check(sum);
        // What one frame holds, told by where its objects lie.
        const auto* const first = static_cast<const std::byte*>(allocate());
        const auto* const second = static_cast<const std::byte*>(allocate());
        const auto* last = second;
        for (std::uint64_t i = 2; i < objects; ++i)
            last = static_cast<const std::byte*>(allocate());
        end_frame();
        round.use_memory(static_cast<std::uint64_t>(last - first + (second - first)));
    };
}

}  // namespace ouro::bench
