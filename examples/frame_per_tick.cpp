// Whatever one tick needs and the next does not comes from a frame: taken by moving a cursor, freed all at
// once when the tick ends. One busy tick does not keep its memory for ever.
#include <ouro/memory/allocator.hpp>
#include <ouro/memory/collections/pooled_vector.hpp>
#include <ouro/memory/frame_allocator.hpp>

#include <cstdio>

namespace {

struct Contact {
    int one, other;
};

// The contacts of this tick, and scratch memory that not even the rest of the tick needs.
bool simulate(ouro::FrameAllocator& frame, int bodies, std::size_t& contact_count) {
    ouro::PooledVector<Contact> contacts{ouro::Allocator(frame)};
    for (int body = 1; body < bodies; ++body) {
        if (!contacts.push_back({body - 1, body})) return false;
    }
    contact_count = contacts.size();
    const std::size_t before = frame.used_bytes();
    {
        const ouro::FrameScope scratch(frame);
        if (!frame.allocate(static_cast<std::size_t>(bodies) * sizeof(float), alignof(float))) return false;
    }
    return frame.used_bytes() == before;
}

}  // namespace

int main() {
    auto frame = ouro::FrameAllocator::create(
        {.name = "tick", .max_bytes = std::size_t{64} << 20, .decay_resets = 30});
    if (!frame) return 1;
    std::size_t contacts = 0;
    std::size_t usual_bytes = 0;
    std::size_t busy_bytes = 0;
    for (int tick = 0; tick < 100; ++tick) {
        const bool is_busy = tick == 20;
        if (!simulate(*frame, is_busy ? 500'000 : 1000, contacts)) return 1;
        if (tick == 0) usual_bytes = frame->committed_bytes();
        if (is_busy) busy_bytes = frame->committed_bytes();
        frame->reset();  // the end of the tick: everything is free, nothing was freed one by one
    }
    std::printf(
        "%zu contacts in the last tick; memory at first %zu KiB, in the busy tick %zu, at the end %zu\n",
        contacts, usual_bytes / 1024, busy_bytes / 1024, frame->committed_bytes() / 1024);
    const bool shrank = busy_bytes > 4 * usual_bytes && frame->committed_bytes() <= usual_bytes;
    return contacts == 999 && frame->used_bytes() == 0 && shrank ? 0 : 1;
}
