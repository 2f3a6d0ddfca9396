// Nested work on a stack: a session holds a level, the level is parsed with scratch memory in between. A
// scope ends what was allocated in it; a marker does the same where the end is not that of a C++ scope.
#include <ouro/memory/stack_allocator.hpp>

#include <cstdio>
#include <cstring>

namespace {

// Text becomes numbers. The text is gone afterwards, the numbers are the caller's.
ouro::Expected<ouro::MemoryBlock> parse(ouro::StackAllocator& stack, std::size_t count) {
    const auto numbers = stack.allocate(count * sizeof(int), alignof(int));
    if (!numbers) return numbers.status();
    const ouro::StackScope scratch(stack);
    const auto text = stack.allocate(count * 12);
    if (!text) return text.status();
    std::memset(text->data, '7', text->size);
    for (std::size_t i = 0; i < count; ++i) {
        const int number = static_cast<int>(text->data[i * 12]) - '0';
        std::memcpy(numbers->data + i * sizeof(int), &number, sizeof(int));
    }
    return numbers;
}

}  // namespace

int main() {
    auto stack = ouro::StackAllocator::create({.name = "session", .max_bytes = std::size_t{1} << 20});
    if (!stack) return 1;
    const auto settings = stack->allocate(256);
    if (!settings) return 1;

    // Levels come and go while the program waits for input: their end is a marker.
    const ouro::StackAllocator::Marker before_level = stack->mark();
    for (int level = 1; level <= 3; ++level) {
        const auto heights = parse(*stack, 10'000);
        if (!heights) return 1;
        int last = 0;
        std::memcpy(&last, heights->data + 9'999 * sizeof(int), sizeof(int));
        std::printf("level %d: %zu bytes in use, at most %zu while it was parsed\n", level,
                    stack->used_bytes(), stack->stats().peak_bytes);
        if (last != 7 || stack->used_bytes() != 256 + 40'000) return 1;
        stack->pop_to(before_level);
    }

    // What does not fit is a status, and the scope in which it happened leaves nothing behind.
    const auto refused = parse(*stack, 80'000);
    stack->pop_to(before_level);
    std::printf("a level that does not fit: %s\n", ouro::status_name(refused.status()).data());
    stack->deallocate(*settings);  // by itself, as the newest
    const bool is_empty = stack->used_bytes() == 0 && stack->stats().live_blocks == 0;
    return !refused && is_empty && stack->check() == ouro::Status::ok ? 0 : 1;
}
