#include "harness/case.hpp"
#include "harness/must.hpp"
#include "memory/memory_suite.hpp"

#include <ouro/memory/frame_allocator.hpp>
#include <ouro/memory/guarded_allocator.hpp>
#include <ouro/memory/stack_allocator.hpp>

#include <string>

namespace ouro::bench {
namespace {

constexpr std::size_t kBytes = std::size_t{64} << 20;
constexpr std::size_t kBlock = 64;

// A block is taken, written and given back: what a tier adds shows up undiluted.
template <class Handle>
Work pairs(Handle handle) {
    return repeat([handle](std::uint64_t i) mutable {
        const MemoryBlock block = must(handle->allocate(kBlock, 16), "allocate");
        auto* byte = reinterpret_cast<volatile unsigned char*>(block.data);
        *byte = static_cast<unsigned char>(i);
        const std::uint64_t value = *byte;
        handle->deallocate(block, 16);
        return value;
    });
}

// Tier off is no more than a pointer to its upstream, and is held as such.
template <class Upstream>
struct OffHandle {
    GuardedAllocator<HardeningTier::off, Upstream> guarded;

    auto* operator->() { return &guarded; }
};

template <class Upstream>
void measure_off(Session& session, Upstream& upstream, const std::string& name) {
    const OffHandle<Upstream> off{GuardedAllocator<HardeningTier::off, Upstream>(upstream)};
    session.measure("hardening: " + name, kNanoseconds)
        .ours(pairs(off))
        .peer("the bare resource", "this tree", pairs(&upstream))
        .bar(ratio_at_most(1.05))
        .run();
}

template <HardeningTier kTier, class Upstream>
void measure_tier(Session& session, Upstream& upstream, const std::string& name,
                  const GuardOptions& options) {
    auto guarded = must(GuardedAllocator<kTier, Upstream>::create_on(upstream, options), "guard");
    session.measure("hardening: " + name, kNanoseconds)
        .ours(pairs(&guarded))
        .peer("the bare resource", "this tree", pairs(&upstream))
        .run();
}

template <class Upstream>
void measure_over(Session& session, Upstream& upstream, const std::string& name) {
    const std::string pair = ", pair over a " + name;
    // A frame and a stack take back the newest block, so nothing is held in quarantine.
    const GuardOptions at_once{.quarantine_blocks = 0, .guard_slots = 256};
    GuardOptions sampled = at_once;
    sampled.sample_every = 1000;
    sampled.check_unsampled = false;
    measure_off(session, upstream, "off" + pair);
    measure_tier<HardeningTier::hardened>(session, upstream, "1/1000" + pair, sampled);
    measure_tier<HardeningTier::checked>(session, upstream, "checked" + pair, at_once);
    measure_tier<HardeningTier::hardened>(session, upstream, "all" + pair, at_once);
}

}  // namespace

void measure_hardening(Session& session) {
    auto frame = must(FrameAllocator::create({.max_bytes = kBytes}), "make a frame");
    auto stack = must(StackAllocator::create({.max_bytes = kBytes}), "make a stack");
    measure_over(session, frame, "frame");
    measure_over(session, stack, "stack");
}

}  // namespace ouro::bench
