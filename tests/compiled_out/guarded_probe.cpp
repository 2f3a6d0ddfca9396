// The same work on a bare resource and on one guarded with tier off. same_code_test.py compares the machine
// code.
#include "same_work.hpp"

#include <ouro/memory/frame_allocator.hpp>
#include <ouro/memory/guarded_allocator.hpp>
#include <ouro/memory/stack_allocator.hpp>

namespace {

using ouro::probe::work;

template <class Upstream>
using Off = ouro::GuardedAllocator<ouro::HardeningTier::off, Upstream>;

}  // namespace

extern "C" std::byte* frame_bare(ouro::FrameAllocator& frame, std::size_t size) {
    return work(frame, size);
}
extern "C" std::byte* frame_wrapped(ouro::FrameAllocator& frame, std::size_t size) {
    Off<ouro::FrameAllocator> guarded(frame);
    return work(guarded, size);
}
// Inlined at once: in steps, the compiler chooses other registers for the one than for the other.
extern "C" [[gnu::flatten]] std::byte* stack_bare(ouro::StackAllocator& stack, std::size_t size) {
    return work(stack, size);
}
extern "C" [[gnu::flatten]] std::byte* stack_wrapped(ouro::StackAllocator& stack, std::size_t size) {
    Off<ouro::StackAllocator> guarded(stack);
    return work(guarded, size);
}
extern "C" std::byte* any_bare(ouro::MemoryResource& resource, std::size_t size) {
    const auto block = resource.allocate(size, 16);
    return block ? block->data : nullptr;
}
extern "C" std::byte* any_wrapped(ouro::MemoryResource& resource, std::size_t size) {
    Off<ouro::MemoryResource> guarded(resource);
    const auto block = guarded.allocate(size, 16);
    return block ? block->data : nullptr;
}
