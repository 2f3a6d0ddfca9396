// A heap that lies, with all it knows, in a plain buffer. The buffer is copied as bytes, the original is
// wiped, and allocating goes on in the copy: what a saved game or a rolled-back state does.
#include <ouro/memory/tlsf_heap.hpp>

#include <cstdio>
#include <cstring>

namespace {

struct Buffer {
    alignas(64) std::byte bytes[64 * 1024] = {};
    ouro::MemoryBlock block() { return {bytes, sizeof(bytes)}; }
};

Buffer live;
Buffer saved;

}  // namespace

int main() {
    const auto heap = ouro::TlsfHeap::create_in(live.block());
    if (!heap) return 1;
    const auto text = (*heap)->allocate(100);
    const auto other = (*heap)->allocate(5000);
    if (!text || !other) return 1;
    std::strcpy(reinterpret_cast<char*>(text->data), "still here");

    // What is remembered across the copy is where things lie in the image, not at which address.
    const auto text_offset = text->data - live.bytes;
    const auto other_offset = other->data - live.bytes;
    std::memcpy(saved.bytes, live.bytes, sizeof(live.bytes));
    std::memset(live.bytes, 0xFF, sizeof(live.bytes));

    // Opening verifies every list and every mark; a damaged image is refused.
    if (ouro::TlsfHeap::open(live.block())) return 1;
    const auto moved = ouro::TlsfHeap::open(saved.block());
    if (!moved) return 1;
    (*moved)->deallocate({saved.bytes + other_offset, 5000});
    const auto grown = (*moved)->reallocate({saved.bytes + text_offset, 100}, 4000);
    if (!grown || (*moved)->check() != ouro::Status::ok) return 1;
    std::printf("'%s' in the copy, %llu bytes live, grown in place %llu time\n",
                reinterpret_cast<const char*>(grown->data),
                static_cast<unsigned long long>((*moved)->stats().live_bytes),
                static_cast<unsigned long long>((*moved)->stats().grown_in_place));
    return std::strcmp(reinterpret_cast<const char*>(grown->data), "still here");
}
