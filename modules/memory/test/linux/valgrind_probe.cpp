// Uses frames and stacks rightly, or makes the mistake that its argument names; run under Valgrind by
// valgrind_test.py.
#include <ouro/memory/frame_allocator.hpp>
#include <ouro/memory/stack_allocator.hpp>

#include <cstring>
#include <string_view>

namespace {

using ouro::FrameAllocator;
using ouro::StackAllocator;

[[gnu::noinline]] void touch(std::byte* address) {
    *reinterpret_cast<volatile unsigned char*>(address) = 1;
}

void use_rightly(FrameAllocator& frame, StackAllocator& stack) {
    for (int round = 0; round < 300; ++round) {
        for (std::size_t size = 1; size < 2000; size += 333) {
            const auto block = frame.allocate(size);
            std::memset(block->data, 1, block->size);
            const auto grown = frame.reallocate(*block, size + 50);
            std::memset(grown->data, 2, grown->size);
            const auto scratch = stack.allocate(size, 64);
            std::memset(scratch->data, 3, scratch->size);
            stack.deallocate(*scratch, 64);
        }
        frame.reset();
    }
}

}  // namespace

int main(int count, char** arguments) {
    const std::string_view mistake = count > 1 ? arguments[1] : "";
    auto frame = FrameAllocator::create({.max_bytes = std::size_t{1} << 20});
    auto stack = StackAllocator::create({.max_bytes = std::size_t{1} << 20});
    if (!frame || !stack) return 2;
    const auto in_frame = frame->allocate(64);
    const auto on_stack = stack->allocate(64);
    if (mistake == "use after reset") {
        frame->reset();
        touch(in_frame->data + 8);
    } else if (mistake == "use after pop") {
        stack->deallocate(*on_stack);
        touch(on_stack->data + 8);
    } else if (mistake == "overflow") {
        touch(in_frame->end());
    } else if (mistake == "read before write") {
        return in_frame->data[3] == std::byte{1} ? 1 : 0;
    } else if (mistake == "none") {
        use_rightly(*frame, *stack);
    } else {
        return 2;
    }
    return 0;
}
