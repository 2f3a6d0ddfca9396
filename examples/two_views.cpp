// One memory object at two addresses: what is written through one view is read through the other. The state
// ring uses the second view to restore pages without its tracker noticing.
#include <ouro/os/memory_object.hpp>

#include <cstdio>

int main() {
    namespace os = ouro::os;
    const auto object = os::MemoryObject::create(std::size_t{1} << 20, "two-views");
    if (!object) {
        std::printf("no memory object: %s\n", ouro::status_text(object.status()).data());
        return 1;
    }
    const auto live = object->map({.bytes = object->size()});
    const auto back_door = object->map({.bytes = object->size()});
    if (!live || !back_door) return 1;

    live->block().data[42] = std::byte{7};
    const int seen = static_cast<int>(back_door->block().data[42]);
    std::printf("wrote 7 at %p, read %d at %p\n", static_cast<void*>(live->block().data + 42), seen,
                static_cast<void*>(back_door->block().data + 42));
    return seen == 7 ? 0 : 1;
}
