// The same work outside and inside of a tag's scope, with observing compiled out. same_code_test.py compares
// the machine code.
#include "same_work.hpp"

#include <ouro/memory/frame_allocator.hpp>
#include <ouro/observe/charged_allocator.hpp>
#include <ouro/observe/tag_scope.hpp>

static_assert(!ouro::kObserving);

extern "C" std::byte* scope_bare(ouro::FrameAllocator& frame, ouro::Tag, std::size_t size) {
    return ouro::probe::work(frame, size);
}
extern "C" std::byte* scope_wrapped(ouro::FrameAllocator& frame, ouro::Tag tag, std::size_t size) {
    const ouro::TagScope scope(tag);
    ouro::ChargedAllocator charged(frame);
    return ouro::probe::work(charged, size);
}
