#pragma once

#include <ouro/os/stack_trace.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace ouro {

// Who called: the innermost return addresses of a stack. Capturing costs nanoseconds; names are looked up
// when a report is printed, at code_of(). Empty where stacks cannot be seen (wasm32).
class CallSites {
public:
    static constexpr std::size_t kMaxFrames = 10;

    // Leaves out the innermost `skip` frames; the first of them is the calling function's own.
    [[gnu::always_inline]] void capture(unsigned skip) noexcept {
        count_ = static_cast<std::uint32_t>(os::capture_stack(frames_, skip));
        begins_with_instruction_ = false;
    }
    // The same below an instruction that is known already, such as one that faulted.
    [[gnu::always_inline]] void capture_below(const void* instruction, unsigned skip) noexcept {
        frames_[0] = const_cast<void*>(instruction);
        begins_with_instruction_ = true;
        count_ = 1 + static_cast<std::uint32_t>(
                         os::capture_stack(std::span<void*>(frames_ + 1, kMaxFrames - 1), skip));
    }
    void clear() noexcept { count_ = 0; }

    [[nodiscard]] std::span<void* const> frames() const noexcept { return {frames_, count_}; }
    [[nodiscard]] bool is_empty() const noexcept { return count_ == 0; }
    // A byte of the instruction that a frame is about. A return address points behind its call, where another
    // line or function may begin already; this is the call. Requires: index < frames().size().
    [[nodiscard]] const void* code_of(std::size_t index) const noexcept {
        if (index == 0 && begins_with_instruction_) return frames_[0];
        return static_cast<const char*>(frames_[index]) - 1;
    }

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
    // The first frame is no return address.
    bool begins_with_instruction_ = false;
};

}  // namespace ouro
