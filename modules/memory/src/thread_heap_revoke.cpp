// How another thread takes a heap over from its owner for a moment.
#include <ouro/memory/detail/thread_heap.hpp>
#include <ouro/os/process_barrier.hpp>
#include <ouro/os/thread.hpp>

namespace ouro::detail {
namespace {

// How long whoever revokes waits for an owner that is inside.
constexpr int kPatience = 10'000;

// No cache's top lies above the one or below the other.
void** above_all() noexcept {
    return reinterpret_cast<void**>(~std::uintptr_t{0});
}
void** below_all() noexcept {
    return nullptr;
}

}  // namespace

bool ThreadHeap::try_revoke() noexcept {
    bool was_revoked = false;
    if (!revoked_.compare_exchange_strong(was_revoked, true, std::memory_order_seq_cst)) return false;
    // After the first barrier nobody begins slow work, which may move the bounds; after the second, no fast
    // work either.
    bool is_outside = wait_until_outside();
    if (is_outside) {
        for (Bin& bin : bins_) {
            bin.bottom.store(above_all(), std::memory_order_relaxed);
            bin.limit.store(below_all(), std::memory_order_relaxed);
        }
        is_outside = wait_until_outside();
        if (!is_outside) restore();
    } else {
        revoked_.store(false, std::memory_order_release);
    }
    return is_outside;
}

bool ThreadHeap::wait_until_outside() const noexcept {
    if (!os::process_barrier()) return false;
    for (int patience = kPatience; patience != 0; --patience) {
        if (sequence_.load(std::memory_order_acquire) % 2 == 0) return true;
        os::yield_thread();
    }
    return false;
}

void ThreadHeap::restore() noexcept {
    for (unsigned size_class = 0; size_class < kClassCount; ++size_class)
        set_bounds(size_class);
    revoked_.store(false, std::memory_order_release);
}

}  // namespace ouro::detail
