// How another thread takes a heap over from its owner for a moment.
#include <ouro/memory/detail/heap_core.hpp>
#include <ouro/memory/detail/thread_heap.hpp>
#include <ouro/os/clock.hpp>
#include <ouro/os/process_barrier.hpp>
#include <ouro/os/thread.hpp>

namespace ouro::detail {
namespace {

// How long whoever revokes waits for an owner that is inside.
constexpr std::uint64_t kPatienceNs = 5'000'000;
// How long an owner waits for whoever has revoked its heap. Emptying takes some microseconds for each slab.
constexpr std::uint64_t kOwnersPatienceNs = 20'000'000;

// No cache's top lies above the one or below the other.
void** above_all() noexcept {
    return reinterpret_cast<void**>(~std::uintptr_t{0});
}
void** below_all() noexcept {
    return nullptr;
}

}  // namespace

bool ThreadHeap::try_revoke() noexcept {
    auto expected = Revocation::none;
    if (!revoked_.compare_exchange_strong(expected, Revocation::revoked, std::memory_order_seq_cst))
        return false;
    // After the first barrier nobody begins slow work, which may move the bounds; after the second, no fast
    // work either.
    bool is_outside = wait_until_outside();
    if (is_outside) {
        for (Bin& bin : bins_) {
            bin.bottom.store(above_all(), std::memory_order_relaxed);
            bin.limit.store(below_all(), std::memory_order_relaxed);
        }
        are_runs_open_.store(false, std::memory_order_relaxed);
        is_outside = wait_until_outside();
        if (!is_outside) restore();
    } else {
        end_revocation();
    }
    return is_outside;
}

bool ThreadHeap::wait_until_outside() const noexcept {
    if (!os::process_barrier()) return false;
    if (sequence_.load(std::memory_order_acquire) % 2 == 0) return true;
    const std::uint64_t begin_ns = os::monotonic_ns();
    while (os::monotonic_ns() - begin_ns < kPatienceNs) {
        os::yield_thread();
        if (sequence_.load(std::memory_order_acquire) % 2 == 0) return true;
    }
    return false;
}

void ThreadHeap::restore() noexcept {
    for (unsigned size_class = 0; size_class < kClassCount; ++size_class)
        set_bounds(size_class);
    are_runs_open_.store(true, std::memory_order_release);
    end_revocation();
}

void ThreadHeap::end_revocation() noexcept {
    if (revoked_.exchange(Revocation::none, std::memory_order_seq_cst) == Revocation::left)
        return core_.make_orphan(*this);
    // Whoever held it meanwhile has gone away again.
    tell_if_orphan();
}

bool ThreadHeap::wait_while_revoked() const noexcept {
    const std::uint64_t begin_ns = os::monotonic_ns();
    while (revoked_.load(std::memory_order_acquire) != Revocation::none) {
        if (os::monotonic_ns() - begin_ns > kOwnersPatienceNs) return false;
        os::yield_thread();
    }
    return true;
}

bool ThreadHeap::enter_or_abandon() noexcept {
    while (!enter()) {
        const std::uint64_t thread = thread_id.exchange(0, std::memory_order_relaxed);
        auto expected = Revocation::revoked;
        if (revoked_.compare_exchange_strong(expected, Revocation::left, std::memory_order_acq_rel))
            return false;
        // Just restored.
        thread_id.store(thread, std::memory_order_release);
    }
    return true;
}

}  // namespace ouro::detail
