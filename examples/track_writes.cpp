// Which pages did the tick write? The kernel notes it, whoever wrote: no declaration, no privilege.
#include <ouro/os/kernel_tracker.hpp>
#include <ouro/os/memory_object.hpp>

#include <array>
#include <cstdio>

int main() {
    namespace os = ouro::os;
    auto tracker = os::KernelTracker::create();
    const auto object = os::MemoryObject::create(std::size_t{64} << 20, "world");
    const auto world = object ? object->map({.bytes = object->size()}) : object.status();
    if (!tracker || !world || !tracker->add(world->block())) {
        std::printf("no kernel tracking here; `ouro doctor` says why\n");
        return 0;
    }

    world->block().data[5 * os::page_size()] = std::byte{1};  // the tick writes two pages
    world->block().data[900 * os::page_size()] = std::byte{1};

    std::array<os::WrittenRange, 16> written;
    const auto found = tracker->scan(world->block(), written, os::AfterScan::rearm);
    if (!found) return 1;
    for (std::size_t i = 0; i < found->count; ++i) {
        const auto page =
            static_cast<std::size_t>(written[i].block().data - world->block().data) / os::page_size();
        std::printf("page %zu was written\n", page);
    }
    return found->count == 2 ? 0 : 1;
}
