// Memory of ours in containers of the standard library, and memory of theirs in ours. Each adapter is one
// line.
#include <ouro/memory/owned_memory_block.hpp>
#include <ouro/memory/pmr.hpp>
#include <ouro/memory/small_object_allocator.hpp>
#include <ouro/memory/stl_allocator.hpp>

#include <cstdio>
#include <cstring>
#include <map>
#include <memory_resource>
#include <string>
#include <vector>

int main() {
    auto heap = ouro::SmallObjectAllocator::create({.name = "game"});
    if (!heap) return 1;
    std::size_t live = 0;
    {
        // The allocator is a type here, and a value there.
        std::vector<int, ouro::StlAllocator<int>> numbers(*heap);
        numbers.assign(10'000, 7);
        ouro::PmrResource heap_memory(*heap);
        std::pmr::map<int, std::pmr::string> names(&heap_memory);
        names.emplace(1, "a name that is too long to lie inside the string itself");
        live = heap->stats().live_bytes;
    }
    std::printf("%zu bytes of the heap in containers, %zu behind them\n", live, heap->stats().live_bytes);

    // The other way: a library hands us a resource of the standard, and our code takes it as any other.
    std::pmr::monotonic_buffer_resource arena;
    ouro::FromPmr from_library(arena, {.name = "library", .frees_blocks = false});
    auto text = ouro::OwnedMemoryBlock::allocate(from_library, 100);
    if (!text) return 1;
    std::strcpy(reinterpret_cast<char*>(text->data()), "in memory of the library");
    if (!text->resize(1000)) return 1;  // the bytes come along
    std::printf("'%s', %zu bytes in '%s'\n", reinterpret_cast<const char*>(text->data()), text->size(),
                from_library.info().name.data());
    const bool right =
        std::strcmp(reinterpret_cast<const char*>(text->data()), "in memory of the library") == 0;
    text->reset();
    return right && live >= 40'000 && heap->stats().live_bytes == 0 && from_library.stats().live_blocks == 0
               ? 0
               : 1;
}
