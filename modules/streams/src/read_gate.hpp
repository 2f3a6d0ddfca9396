#pragma once

#include <ouro/os/give_way.hpp>

#include <atomic>
#include <cstdint>

namespace ouro::detail {

// Readers that unpack a page are inside for that time, and those that end a view for a moment; the thread
// that commits closes the gate before it takes away what they may be looking at, and waits for those inside:
// as long as it takes to unpack a page, and longer only where one of them lost its core meanwhile.
class ReadGate {
public:
    void enter() noexcept {
        while ((state_.fetch_add(1, std::memory_order_acq_rel) & kClosed) != 0) {
            state_.fetch_sub(1, std::memory_order_acq_rel);
            os::GiveWay way;
            while ((state_.load(std::memory_order_relaxed) & kClosed) != 0)
                way.once();
        }
    }
    void leave() noexcept { state_.fetch_sub(1, std::memory_order_release); }
    // Whoever closes the gate from here on sees what was done before.
    void pass() noexcept {
        enter();
        leave();
    }

    // For one thread, and not while it is closed.
    void close() noexcept {
        state_.fetch_or(kClosed, std::memory_order_acq_rel);
        os::GiveWay way(kClosingPauses);
        while (state_.load(std::memory_order_acquire) != kClosed)
            way.once();
    }
    void open() noexcept { state_.fetch_and(~kClosed, std::memory_order_release); }

private:
    // Longer than a page is unpacked.
    static constexpr unsigned kClosingPauses = 2000;
    static constexpr std::uint32_t kClosed = std::uint32_t{1} << 31;

    std::atomic<std::uint32_t> state_ = 0;
};

}  // namespace ouro::detail
