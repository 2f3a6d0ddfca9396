// Does so many pairs of an allocation and a free, for a tool that counts instructions:
// ouro-observe-probe <heap|charged|compiled-out> <pairs>
#include <ouro/memory/small_object_allocator.hpp>
#include <ouro/observe/charged_allocator.hpp>
#include <ouro/observe/default_tags.hpp>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

constexpr std::size_t kObject = 60;

// As whoever uses a heap holds it: by a pointer. Charging that is compiled out is no more than that, and is
// held as such.
struct CompiledOut {
    ouro::ChargedAllocator<ouro::SmallObjectAllocator, false> charged;

    auto* operator->() { return &charged; }
};

// A function of its own for each: inlined into main, which runs once, loops are compiled to be small, and
// what the heap does inline elsewhere would stay calls.
template <class Heap>
[[gnu::noinline]] void do_pairs(const Heap& heap, unsigned long pairs) {
    Heap own = heap;
    for (unsigned long i = 0; i < pairs; ++i) {
        const auto block = own->allocate(kObject, ouro::kDefaultAlignment);
        asm volatile("" : : "r"(block->data) : "memory");
        own->deallocate({block->data, kObject}, ouro::kDefaultAlignment);
    }
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 3) {
        std::fputs("usage: ouro-observe-probe <heap|charged|compiled-out> <pairs>\n", stderr);
        return 2;
    }
    const std::string_view which = arguments[1];
    const unsigned long pairs = std::strtoul(arguments[2], nullptr, 10);
    auto heap = ouro::SmallObjectAllocator::create({.name = "probe"});
    if (!heap) return 1;
    const ouro::TagScope scope(ouro::default_tags().creatures);
    if (which == "heap") {
        do_pairs(&*heap, pairs);
    } else if (which == "charged") {
        ouro::ChargedAllocator<ouro::SmallObjectAllocator, true> charged(*heap);
        do_pairs(&charged, pairs);
    } else if (which == "compiled-out") {
        do_pairs(CompiledOut{ouro::ChargedAllocator<ouro::SmallObjectAllocator, false>(*heap)}, pairs);
    } else {
        std::fputs("what to probe is heap, charged or compiled-out\n", stderr);
        return 2;
    }
    return 0;
}
