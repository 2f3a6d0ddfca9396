#pragma once

#include <ouro/os/futex.hpp>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

// A number that one thread sets and another waits for, made of different means.
namespace ouro::bench {

class OurGate {
public:
    void set(std::uint32_t value) {
        word_.store(value, std::memory_order_release);
        os::wake_one(word_);
    }
    void wait_for(std::uint32_t value) {
        for (std::uint32_t seen; (seen = word_.load(std::memory_order_acquire)) != value;)
            os::wait_on(word_, seen);
    }

private:
    std::atomic<std::uint32_t> word_{0};
};

class FutexGate {
public:
    void set(std::uint32_t value) {
        word_.store(value, std::memory_order_release);
        ::syscall(SYS_futex, &word_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
    }
    void wait_for(std::uint32_t value) {
        for (std::uint32_t seen; (seen = word_.load(std::memory_order_acquire)) != value;)
            ::syscall(SYS_futex, &word_, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
    }

private:
    std::atomic<std::uint32_t> word_{0};
};

class ConditionGate {
public:
    void set(std::uint32_t value) {
        {
            const std::lock_guard lock(mutex_);
            value_ = value;
        }
        changed_.notify_one();
    }
    void wait_for(std::uint32_t value) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return value_ == value; });
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::uint32_t value_ = 0;
};

}  // namespace ouro::bench
