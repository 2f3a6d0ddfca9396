#pragma once

#include <ouro/os/thread.hpp>

#include <atomic>

namespace ouro::detail {

// One thread at a time brings caches of queries up to date; the others wait, which is not for long.
class FindingScope {
public:
    explicit FindingScope(std::atomic<bool>& is_finding) noexcept : is_finding_(is_finding) {
        while (is_finding_.exchange(true, std::memory_order_acquire))
            os::spin_pause();
    }
    ~FindingScope() { is_finding_.store(false, std::memory_order_release); }
    FindingScope(const FindingScope&) = delete;
    FindingScope& operator=(const FindingScope&) = delete;

private:
    std::atomic<bool>& is_finding_;
};

}  // namespace ouro::detail
