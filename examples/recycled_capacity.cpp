// Collections whose memory comes from an allocator and whose failures are values: lists made and dropped
// every frame share their blocks, and a history of fixed length forgets its oldest entry.
#include <ouro/memory/collections/capacity_pool.hpp>
#include <ouro/memory/collections/pooled_vector.hpp>
#include <ouro/memory/collections/ring_buffer.hpp>
#include <ouro/memory/frame_allocator.hpp>

#include <cstdint>
#include <cstdio>

struct Contact {
    std::uint32_t one, other;
    float depth;
};

int main() {
    auto memory = ouro::FrameAllocator::create({.max_bytes = std::size_t{1} << 20});
    if (!memory) return 1;
    ouro::CapacityPool pool(*memory);
    auto history = ouro::RingBuffer<std::size_t>::create(*memory, 60);
    if (!history) return 1;

    for (std::uint32_t frame = 0; frame < 1000; ++frame) {
        ouro::PooledVector<Contact> contacts(pool);
        for (std::uint32_t i = 0; i < 100 + frame % 50; ++i)
            if (!contacts.push_back({frame, i, 0.1F})) return 1;
        history->push_back_overwriting(contacts.size());
    }

    // The region could not hold a thousand such lists; the pool made each of the blocks of the ones before.
    const auto stats = pool.pool_stats();
    std::size_t sum = 0;
    for (const std::size_t count : *history)
        sum += count;
    std::printf("%llu blocks reused, %llu fetched; %zu frames remembered, %zu contacts in them\n",
                static_cast<unsigned long long>(stats.reused), static_cast<unsigned long long>(stats.fetched),
                history->size(), sum);

    // A request that cannot be met changes nothing.
    ouro::PooledVector<Contact> large(*memory);
    const bool refused = large.reserve(std::size_t{1} << 30) == ouro::Status::capacity_exhausted;
    return refused && large.empty() && stats.fetched < 50 && history->size() == 60 ? 0 : 1;
}
