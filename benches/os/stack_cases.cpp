// Capturing the stack of return addresses.
#include "harness/case.hpp"
#include "os/os_suite.hpp"
#include "os/stack_peers.hpp"

#include <ouro/os/stack_trace.hpp>

#include <array>
#include <stdexcept>

#include <unwind.h>

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

constexpr Unit kPerFrame{"ns", static_cast<double>(kFrames)};

void add_libunwind(Case& row) {
    if (libunwind_version().empty())
        row.missing_peer("libunwind", "install libunwind-dev and build again");
    else
        row.peer("unw_backtrace", libunwind_version(),
                 at_depth([](Frames& frames) { return libunwind_backtrace(frames); }));
}

// Asked of the libraries themselves: libunwind has functions of the same names, which would come first.
Work glibc_backtrace() {
    auto* backtrace = PeerFolder().load("c", "6").function<int(void**, int)>("backtrace");
    if (backtrace == nullptr) throw std::runtime_error("the C library has no backtrace()");
    return at_depth([=](Frames& frames) {
        return static_cast<std::size_t>(backtrace(frames.data(), static_cast<int>(frames.size())));
    });
}

// The compiler's unwinder, as it was before there were rules.
struct Unwinder {
    decltype(&_Unwind_Backtrace) walk = nullptr;
    decltype(&_Unwind_GetIP) address_of = nullptr;
};

struct UnwinderWalk {
    Unwinder unwinder;
    Frames& frames;
    std::size_t count = 0;
};

_Unwind_Reason_Code note_frame(_Unwind_Context* context, void* argument) {
    auto& walk = *static_cast<UnwinderWalk*>(argument);
    walk.frames[walk.count++] = reinterpret_cast<void*>(walk.unwinder.address_of(context));
    return walk.count == walk.frames.size() ? _URC_END_OF_STACK : _URC_NO_REASON;
}

Work compilers_backtrace() {
    const PeerLibrary library = PeerFolder().load("gcc_s", "1");
    const Unwinder unwinder{library.function<decltype(_Unwind_Backtrace)>("_Unwind_Backtrace"),
                            library.function<decltype(_Unwind_GetIP)>("_Unwind_GetIP")};
    if (unwinder.walk == nullptr || unwinder.address_of == nullptr)
        throw std::runtime_error("there is no unwinder of the compiler");
    return at_depth([=](Frames& frames) {
        UnwinderWalk walk{unwinder, frames};
        unwinder.walk(note_frame, &walk);
        return walk.count;
    });
}

}  // namespace

void measure_stacks(Session& session) {
    Case pointers = session.measure("capture the stack, per frame of 16", kPerFrame);
    pointers.ours(at_depth([](Frames& frames) { return os::capture_stack(frames); }))
        .peer("backtrace", libc_version(), glibc_backtrace());
    add_libunwind(pointers);
    pointers.bar(ratio_at_most(0.25)).run();

    Case tables = session.measure("capture callers by tables, per frame of 16", kPerFrame);
    tables.ours(at_depth([](Frames& frames) { return os::capture_callers(frames, nullptr); }))
        .peer("backtrace", libc_version(), glibc_backtrace())
        .peer("_Unwind_Backtrace", "libgcc", compilers_backtrace());
    add_libunwind(tables);
    tables.bar(ratio_at_most(1)).run();
}

}  // namespace ouro::bench
