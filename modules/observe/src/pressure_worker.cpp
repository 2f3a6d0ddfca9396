#include <ouro/observe/pressure.hpp>
#include <ouro/os/process_memory.hpp>

#include <algorithm>
#include <memory>
#include <utility>

namespace ouro {
namespace {

constexpr std::uint64_t kPoliteNs = 1'000'000;

}  // namespace

void PressureMonitor::run_worker(void* monitor) {
    auto& self = *static_cast<PressureMonitor*>(monitor);
    self.worker_thread_.store(os::this_thread_id());
    for (;;) {
        // Before all questions: what happens after them changes it, and the sleep below does not begin.
        const std::uint32_t seen = detail::alarm_count();
        if (self.is_stopping_.load()) break;
        const bool has_polled = self.try_poll();
        std::uint64_t sleep_ns = self.sleep_ns_.load(std::memory_order_relaxed);
        // Another thread runs the handlers, and may take long.
        if (!has_polled) sleep_ns = std::clamp(sleep_ns, kPoliteNs, kPoliteNs * 100);
        if (sleep_ns != 0) detail::sleep_until_alarm(seen, sleep_ns);
    }
    self.worker_thread_.store(0);
}

Expected<void> PressureMonitor::start_worker() noexcept {
    if (is_worker()) return Status::busy;
    const detail::WordLockScope scope(worker_lock_);
    if (worker_.is_joinable()) {
        if (!is_stopping_.load()) return Status::busy;
        join_worker();
    }
    is_stopping_.store(false);
    sleep_ns_.store(0, std::memory_order_relaxed);
    worker_process_.store(os::process_id());
    auto started = os::Thread::start(run_worker, this, {.name = "ouro-pressure"});
    if (!started) return started.status();
    worker_ = *std::move(started);
    return {};
}

void PressureMonitor::stop_worker() noexcept {
    is_stopping_.store(true);
    detail::ring_alarm();
    if (is_worker()) return;
    const detail::WordLockScope scope(worker_lock_);
    if (worker_.is_joinable()) join_worker();
}

void PressureMonitor::join_worker() noexcept {
    if (worker_process_.load() == os::process_id()) {
        worker_.join();
    } else {
        // A fork copies no threads: there is nothing to wait for, only a name to forget.
        std::construct_at(&worker_);
        worker_thread_.store(0);
    }
}

bool PressureMonitor::is_worker() const noexcept {
    return worker_thread_.load() == os::this_thread_id() && worker_process_.load() == os::process_id();
}

}  // namespace ouro
