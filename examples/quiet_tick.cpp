// A game that has warmed up should neither grow nor allocate where it must not. A seal makes growth fail with
// a status of its own; a scope makes an allocation in the wrong place end the program with the scope's name.
#include <ouro/memory/allocator.hpp>
#include <ouro/memory/frame_allocator.hpp>
#include <ouro/memory/no_allocation_scope.hpp>
#include <ouro/memory/seal.hpp>

#include <cstdio>
#include <cstdlib>

namespace {

// In a game this would write to the log.
void tell_and_leave(const ouro::AssertFailure& failure) {
    std::printf("caught: %s (%s)\n", failure.message, failure.condition);
    std::exit(0);
}

}  // namespace

int main() {
    auto frame = ouro::FrameAllocator::create({.max_bytes = std::size_t{64} << 20});
    if (!frame) return 1;
    const ouro::Allocator memory = *frame;

    // Warm-up: the largest frame that will be needed.
    if (!memory.allocate(std::size_t{1} << 20)) return 1;
    frame->reset();
    ouro::seal();

    const bool served = memory.allocate(500'000).has_value();
    const auto refused = memory.allocate(std::size_t{8} << 20);
    std::printf("sealed: 500 kB %s, 8 MiB: %s; refused so far: %llu\n", served ? "served" : "refused",
                ouro::status_name(refused.status()).data(),
                static_cast<unsigned long long>(ouro::refused_growths()));
    if (!served || refused.status() != ouro::Status::sealed) return 1;

    ouro::set_assert_handler(tell_and_leave);
    const ouro::NoAllocationScope tick("simulation tick");
    {
        const ouro::AllowAllocationScope hole;
        if (!memory.allocate(100)) return 1;
    }
    (void)memory.allocate(100);
    return 1;
}
