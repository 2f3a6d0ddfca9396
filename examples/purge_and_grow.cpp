// A level ends and its memory goes back to the system, with what the caches of threads kept. A buffer that
// must not move grows where it is, or not at all.
#include <ouro/memory/allocator.hpp>
#include <ouro/memory/small_object_allocator.hpp>

#include <array>
#include <cstdio>

int main() {
    auto heap = ouro::SmallObjectAllocator::create({.name = "game"});
    if (!heap) return 1;
    static std::array<ouro::MemoryBlock, 50'000> objects;
    for (ouro::MemoryBlock& object : objects) {
        const auto block = heap->allocate(200);
        if (!block) return 1;
        object = *block;
        object.data[0] = std::byte{1};
    }
    for (const ouro::MemoryBlock object : objects)
        heap->deallocate(object);
    const std::size_t cached = heap->counts().cached_bytes;
    const auto purged = heap->purge();
    std::printf("%zu KiB of free blocks in caches, %zu KiB back to the system, %zu threads skipped\n",
                cached >> 10, purged.bytes >> 10, purged.skipped_heaps);

    // Within its class a block has room already; a large one takes the units behind it while they are free.
    const ouro::Allocator memory = *heap;
    const auto line = memory.allocate(40);
    const auto sound = memory.allocate(std::size_t{100} << 10);
    if (!line || !sound) return 1;
    const auto longer = memory.try_reallocate({line->data, 40}, 48);
    const auto much_longer = memory.try_reallocate(*line, 4000);
    const auto more_sound = memory.try_reallocate(*sound, std::size_t{1} << 20);
    if (!more_sound) return 1;
    std::printf("40 to 48 bytes: %s; to 4000: %s; 100 KiB to 1 MiB: %s, at the same address\n",
                ouro::status_name(longer.status()).data(), ouro::status_name(much_longer.status()).data(),
                ouro::status_name(more_sound.status()).data());
    const bool right = longer && much_longer.status() == ouro::Status::capacity_exhausted &&
                       more_sound->data == sound->data && more_sound->size >= (std::size_t{1} << 20);
    memory.deallocate(*line);
    memory.deallocate(*more_sound);
    return right && purged.bytes >= (std::size_t{8} << 20) && heap->stats().live_bytes == 0 ? 0 : 1;
}
