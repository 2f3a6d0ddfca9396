#include "fork_safety.hpp"

#include <ouro/observe/detail/observe_image.hpp>
#include <ouro/os/clock.hpp>
#include <ouro/os/process_memory.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <atomic>
#include <type_traits>

namespace ouro::detail {
namespace {

static_assert(std::is_standard_layout_v<ObserveImage> && std::is_trivially_destructible_v<ObserveImage>);

constinit std::atomic<ObserveImage*> g_image = nullptr;
constinit LedgerLock g_making;

// A page that is never committed comes before the image: the system would otherwise join its mapping to one
// that happens to lie below, and a reader would not find the beginning.
void* reserve_memory() noexcept {
    const std::size_t page = os::page_size();
    const auto whole = os::reserve({.bytes = sizeof(ObserveImage) + page});
    if (!whole) return nullptr;
    if (os::commit({whole->data + page, whole->size - page})) return whole->data + page;
    static_cast<void>(os::release(*whole));
    return nullptr;
}

ObserveImage* make_image() noexcept {
    watch_forks_of_ledger();
    const LedgerLockScope scope(g_making);
    if (ObserveImage* const image = g_image.load(std::memory_order_acquire)) return image;
    // Zero bytes are a valid image: all of it is numbers.
    auto* const image = static_cast<ObserveImage*>(reserve_memory());
    if (image == nullptr) return nullptr;
    image->header.version = kObserveVersion;
    image->header.process_id = os::process_id();
    image->header.image_bytes = sizeof(ObserveImage);
    image->header.started_ns = os::monotonic_ns();
    image->header.magic = kObserveMagic;
    g_image.store(image, std::memory_order_release);
    return image;
}

}  // namespace

void hold_image_for_fork() noexcept {
    g_making.lock();
}
void resume_image() noexcept {
    g_making.unlock();
}

ObserveImage* known_image() noexcept {
    return g_image.load(std::memory_order_acquire);
}

ObserveImage* observe_image() noexcept {
    ObserveImage* const image = g_image.load(std::memory_order_acquire);
    return image != nullptr ? image : make_image();
}

}  // namespace ouro::detail
