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
template <class Resource>
Work pairs(Resource& resource) {
    return repeat([&resource](std::uint64_t i) {
        const MemoryBlock block = must(resource.allocate(kBlock, 16), "allocate");
        auto* byte = reinterpret_cast<volatile unsigned char*>(block.data);
        *byte = static_cast<unsigned char>(i);
        const std::uint64_t value = *byte;
        resource.deallocate(block, 16);
        return value;
    });
}

template <HardeningTier kTier, class Upstream>
void measure_tier(Session& session, Upstream& upstream, const std::string& name, const GuardOptions& options,
                  std::optional<Bar> bar) {
    auto guarded = must(GuardedAllocator<kTier, Upstream>::create_on(upstream, options), "guard");
    Case row = session.measure("hardening: " + name, kNanoseconds);
    row.ours(pairs(guarded)).peer("the bare resource", "this tree", pairs(upstream));
    if (bar) row.bar(*bar);
    row.run();
}

template <class Upstream>
void measure_over(Session& session, Upstream& upstream, const std::string& name) {
    const std::string over = ", 64 B pair over a " + name;
    // A frame and a stack take back the newest block, so nothing is held in quarantine.
    const GuardOptions at_once{.quarantine_blocks = 0};
    GuardOptions sampled = at_once;
    sampled.sample_every = 1000;
    sampled.check_unsampled = false;
    measure_tier<HardeningTier::off>(session, upstream, "off" + over, at_once, ratio_at_most(1.02));
    measure_tier<HardeningTier::hardened>(session, upstream, "1 in 1,000 guarded" + over, sampled, {});
    measure_tier<HardeningTier::checked>(session, upstream, "checked" + over, at_once, {});
    GuardOptions all = at_once;
    all.guard_slots = 256;
    measure_tier<HardeningTier::hardened>(session, upstream, "hardened, all guarded" + over, all, {});
}

}  // namespace

void measure_hardening(Session& session) {
    auto frame = must(FrameAllocator::create({.max_bytes = kBytes}), "make a frame");
    auto stack = must(StackAllocator::create({.max_bytes = kBytes}), "make a stack");
    measure_over(session, frame, "frame");
    measure_over(session, stack, "stack");
}

}  // namespace ouro::bench
