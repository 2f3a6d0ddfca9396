#pragma once

#include <ouro/memory/partition.hpp>

namespace ouro {

// Only with guards and any_thread: other partitions are for one thread, or have a heap without locks.
// Held for some instructions, or for a system call when a span gets or loses its memory.
class Partition::Lock {
public:
    explicit Lock(const Partition& partition) noexcept
        : lock_(partition.lock_ ? &*partition.lock_ : nullptr) {
        if (lock_ != nullptr) lock_->lock();
    }
    ~Lock() {
        if (lock_ != nullptr) lock_->unlock();
    }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

private:
    detail::ForkSafeLock* lock_;
};

}  // namespace ouro
