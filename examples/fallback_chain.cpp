// A fixed region first, the system when it is full: most requests never leave the region, and each block
// finds its way home by its address.
#include <ouro/memory/fallback_chain.hpp>
#include <ouro/memory/stack_allocator.hpp>
#include <ouro/memory/system_allocator.hpp>

#include <cstdio>
#include <cstring>

int main() {
    auto region = ouro::StackAllocator::create({.name = "region", .max_bytes = 64 << 10});
    auto system = ouro::SystemAllocator::create({.name = "system"});
    if (!region || !system) return 1;
    auto chain = ouro::FallbackChain::create({&*region, &*system});
    if (!chain) return 1;

    const auto where = [&](ouro::MemoryBlock block) { return chain->owner_of(block.data)->info().name; };
    const auto small = chain->allocate(1000);
    const auto large = chain->allocate(1'000'000);
    if (!small || !large) return 1;
    std::printf("1,000 bytes are in the %s, 1,000,000 in the %s\n", where(*small).data(),
                where(*large).data());
    const bool served = where(*small) == "region" && where(*large) == "system";

    // A block that outgrows the region moves, with its bytes.
    std::memset(small->data, 7, 1000);
    const auto grown = chain->reallocate(*small, 100'000);
    if (!grown) return 1;
    const bool moved = where(*grown) == "system" && grown->data[999] == std::byte{7};
    std::printf("grown to 100,000 bytes it is in the %s\n", where(*grown).data());

    chain->deallocate(*grown);
    chain->deallocate(*large);
    const ouro::ResourceStats stats = chain->stats();
    std::printf("all returned: %zu bytes live, checked: %s\n", stats.live_bytes,
                ouro::status_name(chain->check()).data());
    return served && moved && stats.live_bytes == 0 ? 0 : 1;
}
