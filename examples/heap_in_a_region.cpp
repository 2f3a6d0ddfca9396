// A general heap in memory that is given and never becomes more: what a console or a plug-in has. What it
// leaves behind in the region is an image: copied as bytes, it is opened elsewhere and everything is there.
#include <ouro/memory/tlsf_allocator.hpp>

#include <cstdio>
#include <cstring>

namespace {

struct Region {
    alignas(64) std::byte bytes[64 * 1024] = {};
    ouro::MemoryBlock block() { return {bytes, sizeof(bytes)}; }
};

Region live;
Region copy;

struct Places {
    std::ptrdiff_t name = 0;
    std::ptrdiff_t mesh = 0;
};

// Returns where things lie in the region; their addresses mean nothing in a copy.
ouro::Expected<Places> fill_region() {
    auto heap = ouro::TlsfAllocator::create_in(live.block(), "plug-in");
    if (!heap) return heap.status();
    const auto name = heap->allocate(100);
    const auto mesh = heap->allocate(20'000);
    if (!name || !mesh) return ouro::Status::out_of_memory;
    std::strcpy(reinterpret_cast<char*>(name->data), "wolf");
    const auto too_large = heap->allocate(100'000);
    std::printf("%zu bytes live; what the region cannot hold: %s\n", heap->stats().live_bytes,
                ouro::status_name(too_large.status()).data());
    if (too_large || heap->check() != ouro::Status::ok) return ouro::Status::corrupt_data;
    return Places{name->data - live.bytes, mesh->data - live.bytes};
}  // the allocator goes, the heap stays as bytes

}  // namespace

int main() {
    const auto places = fill_region();
    if (!places) return 1;
    std::memcpy(copy.bytes, live.bytes, sizeof(live.bytes));
    std::memset(live.bytes, 0xFF, sizeof(live.bytes));

    const auto heap = ouro::TlsfHeap::open(copy.block());
    if (!heap) return 1;
    const char* name = reinterpret_cast<const char*>(copy.bytes + places->name);
    std::printf("'%s' in the copy, with %llu blocks\n", name,
                static_cast<unsigned long long>((*heap)->stats().live_blocks));
    (*heap)->deallocate({copy.bytes + places->mesh, 20'000});
    const bool right = std::strcmp(name, "wolf") == 0 && (*heap)->stats().live_blocks == 1;
    return right && (*heap)->allocate(30'000) && (*heap)->check() == ouro::Status::ok ? 0 : 1;
}
