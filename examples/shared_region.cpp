// Two parties with one memory at different addresses, as two processes have it: one writes a message into a
// block, the other finds it by its offset, reads it and frees it.
#include <ouro/memory/shared_region.hpp>
#include <ouro/os/memory_object.hpp>

#include <cstdio>
#include <cstring>
#include <new>

namespace {

struct Message {
    char text[32];
};

}  // namespace

int main() {
    using ouro::SharedRegion;
    const auto object = ouro::os::MemoryObject::create(std::size_t{1} << 20, "shared region");
    if (!object) return 1;
    const auto here = object->map({.bytes = object->size()});
    const auto there = object->map({.bytes = object->size()});  // by the other process
    if (!here || !there) return 1;

    const auto region = SharedRegion::create(here->block());
    auto memory = region->claim_cache(1);
    const auto block = memory->allocate(sizeof(Message), alignof(Message));
    if (!block) return 1;
    auto* const message = new (block->data) Message{"hello"};
    const auto place = ouro::OffsetPtr<Message>::to(message, region->base());  // four bytes, to be sent

    const auto other_region = SharedRegion::attach(there->block());
    auto other_memory = other_region->claim_cache(2);
    Message* const received = place.in(other_region->base());
    const bool is_same = std::strcmp(received->text, "hello") == 0 && received != message;
    std::printf("\"%s\" at offset %u, at another address\n", received->text, place.offset());
    other_memory->deallocate({reinterpret_cast<std::byte*>(received), sizeof(Message)}, alignof(Message));

    std::printf("%u blocks are left\n", static_cast<unsigned>(region->stats().live_blocks));
    return is_same && region->stats().live_blocks == 0 && region->check() == ouro::Status::ok ? 0 : 1;
}
