#pragma once

#include <ouro/base/status.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace ouro::os {

// Calls functions with the stack at one and the same place, however deep their caller is, and with zeros
// below. Code that leaves the address of a local variable in memory that it never looks at again, or copies a
// structure with the gaps between its members, then leaves the same bytes each time: what is simulated again
// from elsewhere equals what it was the first time.
//
//     os::SteadyStack stack;
//     stack.call([&] { simulate(tick); });
//
// For the thread that made it. Handlers of signals that interrupt the function write below it too, unless
// they have a stack of their own (sigaltstack).
class SteadyStack {
public:
    // The place is so far below the caller of this constructor: whoever calls may be deeper by as much.
    [[gnu::noinline]] explicit SteadyStack(std::size_t room_bytes = kRoomBytes) noexcept;

    // Fails with out_of_range when the caller is too deep already, by far not deep enough, or on another
    // stack; the function is not called then.
    template <class Function>
    [[nodiscard]] Status call(Function&& function) const {
        using Plain = std::remove_reference_t<Function>;
        return call_erased([](void* plain) { (*static_cast<Plain*>(plain))(); },
                           const_cast<void*>(static_cast<const void*>(&function)));
    }

private:
    static constexpr std::size_t kRoomBytes = std::size_t{64} << 10;
    // More is not skipped: stacks end somewhere.
    static constexpr std::size_t kMostSkipped = std::size_t{1} << 20;
    // What is cleared; code that goes deeper finds what others left there.
    static constexpr std::size_t kClearedBytes = std::size_t{64} << 10;

    [[gnu::noinline]] Status call_erased(void (*function)(void*), void* plain) const;
    [[gnu::noinline]] static void clear_below() noexcept;

    std::uintptr_t place_;
};

}  // namespace ouro::os
