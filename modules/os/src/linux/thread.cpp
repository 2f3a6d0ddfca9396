#include "system_calls.hpp"

#include <ouro/base/align.hpp>
#include <ouro/os/futex.hpp>
#include <ouro/os/thread.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <atomic>
#include <memory>
#include <utility>

#include <pthread.h>
#include <sched.h>

namespace ouro::os {
namespace {

// What a new thread needs to know; lives on its starter's stack until the thread has taken it.
struct StartOrder {
    Thread::Entry entry;
    void* argument;
    std::atomic<std::uint32_t> taken{0};
};

void* run_thread(void* order_pointer) {
    auto& order = *static_cast<StartOrder*>(order_pointer);
    const Thread::Entry entry = order.entry;
    void* argument = order.argument;
    order.taken.store(1, std::memory_order_release);
    // The starter may be gone by now and the word with it; waking nobody at an old address is harmless.
    wake_one(order.taken);
    entry(argument);
    return nullptr;
}

// The cores given to the process when it first asked; pinning a thread later does not change it.
const cpu_set_t& allowed_cores() noexcept {
    static const cpu_set_t cores = [] {
        cpu_set_t set;
        CPU_ZERO(&set);
        const int result =
            attempt(OsCall::get_affinity, [&] { return ::sched_getaffinity(0, sizeof(set), &set); });
        if (result != 0) CPU_SET(0, &set);
        return set;
    }();
    return cores;
}

// The set with just the core-th of the allowed cores.
Expected<cpu_set_t> single_core(unsigned core) noexcept {
    const cpu_set_t& allowed = allowed_cores();
    for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (!CPU_ISSET(cpu, &allowed)) continue;
        if (core-- != 0) continue;
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(cpu, &set);
        return set;
    }
    return Status::bad_argument;
}

class ThreadAttributes {
public:
    ThreadAttributes() noexcept { ::pthread_attr_init(&attributes_); }
    ~ThreadAttributes() { ::pthread_attr_destroy(&attributes_); }
    ThreadAttributes(const ThreadAttributes&) = delete;
    ThreadAttributes& operator=(const ThreadAttributes&) = delete;

    [[nodiscard]] Status apply(const ThreadOptions& options) noexcept {
        if (options.stack_bytes != 0) {
            const auto bytes = checked_align_up(options.stack_bytes, page_size());
            if (!bytes || ::pthread_attr_setstacksize(&attributes_, *bytes) != 0) return Status::bad_argument;
        }
        if (options.core == kAnyCore) return Status::ok;
        const auto set = single_core(options.core);
        if (!set) return set.status();
        return ::pthread_attr_setaffinity_np(&attributes_, sizeof(*set), &*set) == 0 ? Status::ok
                                                                                     : Status::bad_argument;
    }

    [[nodiscard]] const pthread_attr_t* get() const noexcept { return &attributes_; }

private:
    pthread_attr_t attributes_;
};

void name_thread(pthread_t thread, const char* name) noexcept {
    constexpr std::size_t kMaxName = 15;
    char cut[kMaxName + 1] = {};
    for (std::size_t i = 0; i < kMaxName && name[i] != '\0'; ++i)
        cut[i] = name[i];
    ::pthread_setname_np(thread, cut);
}

Status start_failure(int error) noexcept {
    switch (error) {
        case EAGAIN:
            return Status::too_many_threads;
        case EINVAL:  // a stack that no address space holds
            return Status::bad_argument;
        default:
            return status_of_error(error);
    }
}

}  // namespace

Expected<Thread> Thread::start(Entry entry, void* argument, const ThreadOptions& options) noexcept {
    if (entry == nullptr) return Status::bad_argument;
    ThreadAttributes attributes;
    const Status applied = attributes.apply(options);
    if (applied != Status::ok) return applied;
    StartOrder order{entry, argument};
    pthread_t thread{};
    const int result = attempt(OsCall::start_thread, [&] {
        errno = ::pthread_create(&thread, attributes.get(), run_thread, &order);
        return errno == 0 ? 0 : -1;
    });
    if (result != 0) return start_failure(errno);
    if (options.name != nullptr) name_thread(thread, options.name);
    while (order.taken.load(std::memory_order_acquire) == 0)
        wait_on(order.taken, 0);
    return Thread(static_cast<std::uintptr_t>(thread));
}

void Thread::join() noexcept {
    OURO_ASSERT(is_joinable(), "only a running thread can be joined, and once");
    ::pthread_join(static_cast<pthread_t>(native_), nullptr);
    native_ = 0;
}

unsigned core_count() noexcept {
    return static_cast<unsigned>(CPU_COUNT(&allowed_cores()));
}

Expected<void> pin_this_thread(unsigned core) noexcept {
    const auto set = single_core(core);
    if (!set) return set.status();
    const int result =
        attempt(OsCall::set_affinity, [&] { return ::sched_setaffinity(0, sizeof(*set), &*set); });
    return result == 0 ? Status::ok : status_of_error(errno);
}

}  // namespace ouro::os
