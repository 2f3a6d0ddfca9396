// The same work on a bare resource and on one whose charging is compiled out. same_code_test.py compares the
// machine code.
#include "same_work.hpp"

#include <ouro/memory/frame_allocator.hpp>
#include <ouro/memory/small_object_allocator.hpp>
#include <ouro/observe/charged_allocator.hpp>

namespace {

using ouro::probe::work;

template <class Upstream>
using CompiledOut = ouro::ChargedAllocator<Upstream, false>;

}  // namespace

extern "C" std::byte* heap_bare(ouro::SmallObjectAllocator& heap, std::size_t size) {
    return work(heap, size);
}
extern "C" std::byte* heap_wrapped(ouro::SmallObjectAllocator& heap, std::size_t size) {
    CompiledOut<ouro::SmallObjectAllocator> charged(heap);
    return work(charged, size);
}
extern "C" std::byte* frame_bare(ouro::FrameAllocator& frame, std::size_t size) {
    return work(frame, size);
}
extern "C" std::byte* frame_wrapped(ouro::FrameAllocator& frame, std::size_t size) {
    CompiledOut<ouro::FrameAllocator> charged(frame);
    return work(charged, size);
}
extern "C" std::byte* any_bare(ouro::MemoryResource& resource, std::size_t size) {
    const auto block = resource.allocate(size, 16);
    return block ? block->data : nullptr;
}
extern "C" std::byte* any_wrapped(ouro::MemoryResource& resource, std::size_t size) {
    CompiledOut<ouro::MemoryResource> charged(resource);
    const auto block = charged.allocate(size, 16);
    return block ? block->data : nullptr;
}
