// Uses a heap of its own beside one of a library with another copy of Ouroboros. Prints what is wrong.
#include "copy.hpp"

#include <ouro/memory/small_object_allocator.hpp>

#include <cstddef>
#include <cstdio>

namespace {

int failures = 0;

void expect(bool right, const char* what) {
    if (right) return;
    std::printf("wrong: %s\n", what);
    ++failures;
}

void use_both(ouro::MemoryResource& mine, ouro::MemoryResource& theirs, std::size_t bytes) {
    for (int count = 0; count < 100; ++count) {
        const auto block = mine.allocate(bytes);
        const auto other = theirs.allocate(bytes);
        expect(block && mine.owns(block->data) && !theirs.owns(block->data),
               "the program's block is its own");
        expect(other && theirs.owns(other->data) && !mine.owns(other->data),
               "the library's block is its own");
        if (failures != 0) return;
        mine.deallocate(*block);
        theirs.deallocate(*other);
    }
}

}  // namespace

int main() {
    auto mine = ouro::SmallObjectAllocator::create({.name = "program"});
    ouro::MemoryResource* const theirs = copy::own_heap();
    if (!mine || theirs == nullptr) return 2;
    for (const std::size_t bytes : {std::size_t{64}, std::size_t{300'000}})
        use_both(*mine, *theirs, bytes);
    expect(mine->check() == ouro::Status::ok && theirs->check() == ouro::Status::ok, "both heaps are sound");
    std::printf("%s\n", failures == 0 ? "each has its own" : "they have taken each other's");
    return failures == 0 ? 0 : 1;
}
