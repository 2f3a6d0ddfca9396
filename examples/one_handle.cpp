// One handle for all memory: objects with owners, scratch memory that goes with a scope, and containers of
// the standard library, all in a frame that is emptied in one step.
#include <ouro/memory/frame_allocator.hpp>
#include <ouro/memory/owned.hpp>
#include <ouro/memory/pmr.hpp>

#include <cstdio>
#include <memory_resource>
#include <string>
#include <vector>

namespace {

struct Sprite {
    float x = 0;
    float y = 0;
};

// Takes any memory, and says so when there is not enough of it.
ouro::Expected<std::size_t> draw(ouro::Allocator memory, std::size_t count) {
    auto sprites = ouro::make_owned_array<Sprite>(memory, count);
    if (!sprites) return sprites.status();
    for (Sprite& sprite : *sprites)
        sprite.x += 1;
    return sprites->size();
}

}  // namespace

int main() {
    auto frame = ouro::FrameAllocator::create({.max_bytes = std::size_t{1} << 20});
    if (!frame) return 1;
    const ouro::Allocator memory = *frame;

    const auto drawn = draw(memory, 1000);
    const auto too_many = draw(memory, 1'000'000);
    std::printf("drew %zu sprites; a million: %s\n", drawn.value_or(std::size_t{0}),
                ouro::status_name(too_many.status()).data());

    std::size_t inside = 0;
    {
        const auto scope = ouro::AllocatorScope::open(memory);
        if (!scope) return 1;
        ouro::PmrResource frame_memory(memory);
        std::pmr::vector<std::pmr::string> lines(&frame_memory);
        for (int i = 0; i < 100; ++i)
            lines.emplace_back("a line of text that lives in the frame, number " + std::to_string(i));
        inside = frame->used_bytes();
    }
    std::printf("with the text %zu bytes, behind the scope %zu, in '%s'\n", inside, frame->used_bytes(),
                memory.info().name.data());
    frame->reset();
    const bool right = drawn && too_many.status() == ouro::Status::capacity_exhausted && inside > 10'000;
    return right && frame->used_bytes() == 0 ? 0 : 1;
}
