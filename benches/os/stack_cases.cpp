// Capturing the stack of return addresses.
#include "harness/case.hpp"
#include "os/os_suite.hpp"
#include "os/stack_peers.hpp"

#include <ouro/os/stack_trace.hpp>

#include <array>
#include <stdexcept>

namespace ouro::bench {
namespace {

// All capture the same number of frames, from a stack that is deeper.
constexpr std::size_t kFrames = 16;
constexpr int kDepth = 24;
using Frames = std::array<void*, kFrames>;

[[gnu::noinline]] void descend(int depth, const Work& work, Round& round) {
    if (depth == 0)
        work(round);
    else
        descend(depth - 1, work, round);
    // Keeps the call from becoming a jump, which would leave no frame.
    keep(depth);
}

template <class Capture>
Work at_depth(Capture capture) {
    return [work = repeat([=](std::uint64_t) {
                Frames frames;
                const std::size_t count = capture(frames);
                keep(frames);
                return count;
            })](Round& round) { descend(kDepth, work, round); };
}

}  // namespace

void measure_stacks(Session& session) {
    // Asked of the C library itself: libunwind has a function of the same name, which would come first.
    const PeerLibrary libc = PeerFolder().load("c", "6");
    auto* backtrace = libc.function<int(void**, int)>("backtrace");
    if (backtrace == nullptr) throw std::runtime_error("the C library has no backtrace()");
    constexpr Unit kPerFrame{"ns", static_cast<double>(kFrames)};
    Case stack = session.measure("capture the stack, per frame of 16", kPerFrame);
    stack.ours(at_depth([](Frames& frames) { return os::capture_stack(frames); }))
        .peer("backtrace", libc_version(), at_depth([=](Frames& frames) {
                  return static_cast<std::size_t>(backtrace(frames.data(), static_cast<int>(frames.size())));
              }));
    if (libunwind_version().empty())
        stack.missing_peer("libunwind", "install libunwind-dev and build again");
    else
        stack.peer("unw_backtrace", libunwind_version(),
                   at_depth([](Frames& frames) { return libunwind_backtrace(frames); }));
    stack.bar(ratio_at_most(0.25)).run();
}

}  // namespace ouro::bench
