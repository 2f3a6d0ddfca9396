#pragma once

#include <ouro/os/give_way.hpp>

#include <atomic>
#include <cstdint>

namespace ouro::detail {

// Closed while packed versions are taken away or changed in place. The thread that commits closes it and
// waits for nobody: a reader notes the turn before it looks for a version, says where it looks (SlotReaders)
// and then whether the turn is still the same; if not, it begins anew. All in one order for all threads.
class ReadGate {
public:
    // For readers: the turn that it is, as soon as it is open.
    [[nodiscard]] std::uint32_t wait_until_open() const noexcept {
        for (os::GiveWay way;; way.once()) {
            const std::uint32_t turn = turn_.load(std::memory_order_seq_cst);
            if (turn % 2 == 0) return turn;
        }
    }
    [[nodiscard]] bool is_same_turn(std::uint32_t turn) const noexcept {
        return turn_.load(std::memory_order_seq_cst) == turn;
    }

    // For one thread, in turns.
    void close() noexcept { turn_.fetch_add(1, std::memory_order_seq_cst); }
    void open() noexcept { turn_.fetch_add(1, std::memory_order_seq_cst); }

private:
    // Odd while it is closed.
    std::atomic<std::uint32_t> turn_ = 0;
};

}  // namespace ouro::detail
