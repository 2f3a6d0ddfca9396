// Memory with a name and a bound: creatures may use 64 KiB, of which a part is for what they remember. Over
// the budget the request fails with its own status, an observer hears of it, and nothing else happens.
#include <ouro/memory/block_registry.hpp>
#include <ouro/memory/observer.hpp>
#include <ouro/memory/system_allocator.hpp>
#include <ouro/memory/tagged_allocator.hpp>

#include <cstdio>

struct Announcer final : ouro::MemoryObserver {
    void on_failure(const ouro::MemoryEvent& event) noexcept override {
        std::printf("%s: %zu bytes refused, %s\n", ouro::tag_name(event.tag).data(), event.asked_bytes,
                    ouro::status_name(event.status).data());
        ++heard;
    }
    int heard = 0;
};

int main() {
    auto system = ouro::SystemAllocator::create({});
    const auto creatures_tag = ouro::register_tag("creatures");
    if (!system || !creatures_tag) return 1;
    const auto memories_tag = ouro::register_tag("memories", *creatures_tag);
    if (!memories_tag) return 1;

    ouro::TaggedAllocator creatures(*system, {.tag = *creatures_tag, .budget_bytes = 64 << 10});
    ouro::TaggedAllocator memories(creatures, {.tag = *memories_tag});  // counted and bounded by both
    Announcer announcer;
    if (!ouro::add_observer(announcer)) return 1;

    const auto bodies = creatures.allocate(40'000);
    const auto first = memories.allocate(20'000);
    const auto second = memories.allocate(20'000);  // over the budget of the creatures
    if (!bodies || !first || second) return 1;
    creatures.set_budget(128 << 10);
    const auto third = memories.allocate(20'000);
    if (!third || !ouro::remove_observer(announcer)) return 1;

    std::printf("creatures use %zu bytes, %zu of them memories\n", creatures.counts().live_bytes,
                memories.counts().live_bytes);
    ouro::visit_blocks([](const ouro::BlockInfo& block) {
        std::printf("%s: %zu bytes committed\n", block.name().data(), block.committed_bytes);
    });
    const bool right = creatures.counts().live_bytes == 80'000 && memories.counts().live_bytes == 40'000 &&
                       creatures.failures(ouro::Status::budget_exceeded) == 1 && announcer.heard == 2;
    memories.deallocate(*third);
    memories.deallocate(*first);
    creatures.deallocate(*bodies);
    return right && creatures.counts().live_blocks == 0 ? 0 : 1;
}
