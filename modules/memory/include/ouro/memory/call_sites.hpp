#pragma once

#include <ouro/os/stack_trace.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace ouro {

// Who called: the innermost return addresses of a stack. Capturing costs nanoseconds; names are looked up
// when a report is printed. Empty where stacks cannot be seen (wasm32).
class CallSites {
public:
    static constexpr std::size_t kMaxFrames = 10;

    // Leaves out the innermost `skip` frames; the first of them is the calling function's own.
    [[gnu::always_inline]] void capture(unsigned skip) noexcept {
        count_ = static_cast<std::uint32_t>(os::capture_stack(frames_, skip));
    }
    // The same below a frame that is known already.
    [[gnu::always_inline]] void capture_below(const void* innermost, unsigned skip) noexcept {
        frames_[0] = const_cast<void*>(innermost);
        count_ = 1 + static_cast<std::uint32_t>(
                         os::capture_stack(std::span<void*>(frames_ + 1, kMaxFrames - 1), skip));
    }
    void clear() noexcept { count_ = 0; }

    [[nodiscard]] std::span<void* const> frames() const noexcept { return {frames_, count_}; }
    [[nodiscard]] bool is_empty() const noexcept { return count_ == 0; }

    friend bool operator==(const CallSites& one, const CallSites& other) noexcept {
        if (one.count_ != other.count_) return false;
        for (std::uint32_t i = 0; i < one.count_; ++i) {
            if (one.frames_[i] != other.frames_[i]) return false;
        }
        return true;
    }

private:
    void* frames_[kMaxFrames];
    std::uint32_t count_ = 0;
};

}  // namespace ouro
