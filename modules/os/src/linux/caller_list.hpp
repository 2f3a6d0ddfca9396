#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

// What capture_callers is made of: two ways to walk a stack that note the same addresses.
namespace ouro::os {

// Notes the addresses of a walk from the inside out, from the first wanted one on.
class CallerList {
public:
    // Requires: room for a frame.
    CallerList(std::span<void*> frames, const void* first) noexcept
        : frames_(frames), first_(reinterpret_cast<std::uintptr_t>(first)) {}

    // False when the walk may end: there is no more room, or too much came before the first one.
    bool add(std::uintptr_t address) noexcept {
        if (count_ == 0 && address != first_) return ++before_ < kMostBefore;
        frames_[count_++] = reinterpret_cast<void*>(address);
        return count_ < frames_.size();
    }

    // Zero when the first one was not found.
    [[nodiscard]] std::size_t count() const noexcept { return count_; }

    void clear() noexcept { count_ = before_ = 0; }

private:
    // Frames of whoever looks, and some signal's.
    static constexpr std::size_t kMostBefore = 256;

    std::span<void*> frames_;
    std::uintptr_t first_;
    std::size_t count_ = 0;
    std::size_t before_ = 0;
};

// Where a walk stands: an address of code, with the registers as they are once the call there has returned.
struct CallPlace {
    std::uintptr_t address;
    std::uintptr_t stack;
    std::uintptr_t frame;
};

// Walks by rules that were read out of the tables before: nanoseconds a frame. False when a frame needs more
// than that; what was noted so far is no result then. Reads nothing of the stack but what lies between the
// place and the stack's end; a frame that leads elsewhere ends the walk. No lock, no allocation, safe in a
// signal handler. CMake chooses it for the processor; where there is none, it is always false.
[[nodiscard]] bool walk_by_rules(CallPlace place, CallerList& list) noexcept;

// Walks with the compiler's unwinder, which knows all that tables can say; about a microsecond a frame.
void walk_by_unwinder(CallerList& list) noexcept;

}  // namespace ouro::os
