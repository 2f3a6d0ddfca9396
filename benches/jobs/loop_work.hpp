#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ouro::bench {

// Jobs that do next to nothing: each leaves the number of the round at its place, which shows that it ran.
class Marks {
public:
    explicit Marks(std::size_t count) : marks_(count) {}

    void begin_round() noexcept { ++round_; }
    void mark(std::size_t begin, std::size_t end) noexcept {
        for (std::size_t i = begin; i < end; ++i)
            marks_[i] = round_;
    }
    [[nodiscard]] std::size_t size() const noexcept { return marks_.size(); }
    // How many ran in the last round.
    [[nodiscard]] std::uint64_t count() const noexcept {
        std::uint64_t found = 0;
        for (const std::uint32_t mark : marks_)
            found += mark == round_ ? 1U : 0U;
        return found;
    }

private:
    std::vector<std::uint32_t> marks_;
    std::uint32_t round_ = 0;
};

// A step of something simple over many elements, the same bits however it is split.
inline void integrate(std::span<float> positions, std::span<const float> speeds, std::size_t begin,
                      std::size_t end) noexcept {
    for (std::size_t i = begin; i < end; ++i)
        positions[i] = positions[i] * 0.999F + speeds[i] * 0.016F;
}

}  // namespace ouro::bench
