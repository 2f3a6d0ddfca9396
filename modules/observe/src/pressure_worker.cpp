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
    if (!is_of_this_process() || is_worker()) return Status::busy;
    const detail::WordLockScope scope(worker_lock_);
    if (worker_.is_joinable()) {
        if (!is_stopping_.load()) return Status::busy;
        worker_.join();
    }
    is_stopping_.store(false);
    sleep_ns_.store(0, std::memory_order_relaxed);
    auto started = os::Thread::start(run_worker, this, {.name = "ouro-pressure"});
    if (!started) return started.status();
    worker_ = *std::move(started);
    return {};
}

void PressureMonitor::stop_worker() noexcept {
    if (!is_of_this_process()) {
        // A fork copies no threads: there is nothing to wait for, only a name to forget. Whoever held the
        // lock is not here either.
        std::construct_at(&worker_);
        return;
    }
    if (is_worker()) return tell_worker_to_stop();
    // The one that is told is the one that is waited for: nobody starts another meanwhile.
    const detail::WordLockScope scope(worker_lock_);
    if (!worker_.is_joinable()) return;
    tell_worker_to_stop();
    worker_.join();
}

void PressureMonitor::tell_worker_to_stop() noexcept {
    is_stopping_.store(true);
    detail::ring_alarm();
}

bool PressureMonitor::is_of_this_process() const noexcept {
    return process_ == os::process_id();
}

bool PressureMonitor::is_worker() const noexcept {
    return worker_thread_.load() == os::this_thread_id() && is_of_this_process();
}

}  // namespace ouro
