#include "memory/variable_workload.hpp"

#include <ouro/base/random.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace ouro::bench {
namespace {

constexpr double kSmallest = 256;
constexpr double kLargest = 65536;
constexpr double kLowWater = 0.84;
// Three of four steps go the way of the swing.
constexpr double kWithTheSwing = 0.75;

class Recorder {
public:
    Recorder(std::uint64_t seed, std::uint64_t period_steps, std::uint64_t limit_bytes)
        : random_(seed), period_steps_(period_steps), limit_bytes_(limit_bytes) {}

    VariableWorkload record(std::uint64_t steps) {
        while (recorded_.steps.size() < steps)
            step();
        return std::move(recorded_);
    }

private:
    void step() {
        const bool with_the_swing = random_.chance(kWithTheSwing);
        const std::uint32_t size = next_size();
        const bool fits = live_bytes_ + size <= limit_bytes_;
        if (!fits) growing_ = false;
        if (live_bytes_ <= static_cast<std::uint64_t>(kLowWater * static_cast<double>(limit_bytes_)))
            growing_ = true;
        if (live_.empty() || (fits && with_the_swing == growing_)) {
            allocate(size);
        } else {
            free_any();
        }
    }

    std::uint32_t next_size() {
        const double turn = static_cast<double>(recorded_.steps.size()) / static_cast<double>(period_steps_);
        const double window = 0.25 - 0.25 * std::cos(turn * 2 * std::numbers::pi);
        const double place = window + 0.5 * random_.unit_double();
        return static_cast<std::uint32_t>(kSmallest * std::pow(kLargest / kSmallest, place));
    }

    void allocate(std::uint32_t size) {
        std::uint32_t slot = recorded_.slots;
        if (free_slots_.empty()) {
            ++recorded_.slots;
            sizes_.push_back(0);
        } else {
            slot = free_slots_.back();
            free_slots_.pop_back();
        }
        sizes_[slot] = size;
        live_.push_back(slot);
        live_bytes_ += size;
        recorded_.peak_live_bytes = std::max(recorded_.peak_live_bytes, live_bytes_);
        recorded_.steps.push_back({size, slot});
    }

    void free_any() {
        const std::uint32_t index = random_.below(static_cast<std::uint32_t>(live_.size()));
        const std::uint32_t slot = live_[index];
        live_[index] = live_.back();
        live_.pop_back();
        live_bytes_ -= sizes_[slot];
        free_slots_.push_back(slot);
        recorded_.steps.push_back({0, slot});
    }

    Random random_;
    std::uint64_t period_steps_;
    std::uint64_t limit_bytes_;
    std::uint64_t live_bytes_ = 0;
    bool growing_ = true;
    std::vector<std::uint32_t> live_;
    std::vector<std::uint32_t> free_slots_;
    std::vector<std::uint32_t> sizes_;
    VariableWorkload recorded_;
};

}  // namespace

VariableWorkload VariableWorkload::record(std::uint64_t seed, std::uint64_t steps, std::uint64_t period_steps,
                                          std::uint64_t limit_bytes) {
    return Recorder(seed, period_steps, limit_bytes).record(steps);
}

}  // namespace ouro::bench
