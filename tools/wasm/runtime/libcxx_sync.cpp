// The parts of libc++ that block or read the clock, which are not in its headers.
#include "host.hpp"
#include "lock.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace {

// atomic<T>::wait for a T that the machine cannot wait for directly: a counter, found by the object's
// address, that every notification of a neighbour moves as well. False wake-ups are allowed, lost ones are
// not.
constexpr std::size_t kCounters = 64;
alignas(64) std::int64_t counters[kCounters];

std::int64_t* counter_of(const volatile void* address) {
    const auto bits = reinterpret_cast<std::uintptr_t>(address);
    return &counters[(bits >> 2 ^ bits >> 8) % kCounters];
}

void bump(const volatile void* address) {
    std::int64_t* counter = counter_of(address);
    __atomic_fetch_add(counter, 1, __ATOMIC_SEQ_CST);
    __builtin_wasm_memory_atomic_notify(reinterpret_cast<int*>(counter), UINT32_MAX);
}

int* word_of(std::__cxx_atomic_contention_t const volatile* address) {
    return reinterpret_cast<int*>(const_cast<std::__cxx_atomic_contention_t*>(address));
}

}  // namespace

_LIBCPP_BEGIN_NAMESPACE_STD

void __cxx_atomic_notify_one(void const volatile* address) noexcept {
    bump(address);
}

void __cxx_atomic_notify_all(void const volatile* address) noexcept {
    bump(address);
}

__cxx_contention_t __libcpp_atomic_monitor(void const volatile* address) noexcept {
    return __atomic_load_n(counter_of(address), __ATOMIC_SEQ_CST);
}

void __libcpp_atomic_wait(void const volatile* address, __cxx_contention_t seen) noexcept {
    __builtin_wasm_memory_atomic_wait64(counter_of(address), seen, -1);
}

void __cxx_atomic_notify_one(__cxx_atomic_contention_t const volatile* address) noexcept {
    __builtin_wasm_memory_atomic_notify(word_of(address), 1);
}

void __cxx_atomic_notify_all(__cxx_atomic_contention_t const volatile* address) noexcept {
    __builtin_wasm_memory_atomic_notify(word_of(address), UINT32_MAX);
}

__cxx_contention_t __libcpp_atomic_monitor(__cxx_atomic_contention_t const volatile* address) noexcept {
    return __cxx_atomic_load(address, memory_order_seq_cst);
}

void __libcpp_atomic_wait(__cxx_atomic_contention_t const volatile* address,
                          __cxx_contention_t seen) noexcept {
    __builtin_wasm_memory_atomic_wait64(reinterpret_cast<long long*>(word_of(address)), seen, -1);
}

int __libcpp_mutex_lock(__libcpp_mutex_t* mutex) {
    ouro::wasm::lock_word(mutex);
    return 0;
}

bool __libcpp_mutex_trylock(__libcpp_mutex_t* mutex) {
    return ouro::wasm::try_lock_word(mutex);
}

int __libcpp_mutex_unlock(__libcpp_mutex_t* mutex) {
    ouro::wasm::unlock_word(mutex);
    return 0;
}

mutex::~mutex() noexcept = default;

void mutex::lock() {
    ouro::wasm::lock_word(&__m_);
}

bool mutex::try_lock() noexcept {
    return ouro::wasm::try_lock_word(&__m_);
}

void mutex::unlock() noexcept {
    ouro::wasm::unlock_word(&__m_);
}

__libcpp_thread_id __libcpp_thread_get_current_id() {
    return ouro_wasm_thread_current_id();
}

void __libcpp_thread_sleep_for(const chrono::nanoseconds& duration) {
    std::uint32_t nobody_wakes_this = 0;
    if (duration.count() > 0) ouro_wasm_wait32(&nobody_wakes_this, 0, duration.count());
}

// A worker cannot give up its turn; the shortest sleep lets another one run.
void __libcpp_thread_yield() {
    __libcpp_thread_sleep_for(chrono::nanoseconds(1));
}

chrono::steady_clock::time_point chrono::steady_clock::now() noexcept {
    return time_point(nanoseconds(ouro::wasm_host::now_ns()));
}

_LIBCPP_END_NAMESPACE_STD
