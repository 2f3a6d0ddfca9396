// A game as players have it: one allocation in a hundred lies between pages that fault, the others cost a
// countdown. A bug that frees twice goes unnoticed most of the time, and is told with both places when it
// hits a guarded block.
#include <ouro/memory/sampled_guards.hpp>
#include <ouro/memory/small_object_allocator.hpp>

#include <cstdio>

namespace {

int told = 0;

// A game would send this home; the program goes on, without the second free.
ouro::AfterMemoryError send_home(const ouro::MemoryErrorReport& report) {
    if (told++ == 0) {
        std::printf("%s of %zu bytes\n", ouro::memory_error_name(report.error).data(), report.block.size);
        std::fflush(stdout);
        ouro::print_memory_error(report);
    }
    return ouro::AfterMemoryError::resume;
}

}  // namespace

int main() {
    auto heap = ouro::SmallObjectAllocator::create({.name = "game"});
    auto guards = ouro::SampledGuards::create({.name = "game", .slots = 64, .sample_every = 100});
    if (!heap || !guards) return 1;
    ouro::set_memory_error_handler(send_home);

    int guarded = 0;
    for (int i = 0; i < 10'000; ++i) {
        if (guards->should_sample()) {
            const auto block = guards->allocate(48, 16);
            if (!block) continue;  // all slots are in use: this one goes without
            ++guarded;
            guards->deallocate(*block, 16);
            if (i % 2 == 0) guards->deallocate(*block, 16);  // the bug
        } else {
            const auto block = heap->allocate(48);
            if (!block) return 1;
            heap->deallocate(*block);
        }
    }
    std::printf("%d of 10000 allocations were guarded, %d double frees told\n", guarded, told);
    ouro::set_memory_error_handler(nullptr);
    return guarded > 20 && told > 0 && guards->live_blocks() == 0 ? 0 : 1;
}
