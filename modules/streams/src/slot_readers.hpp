#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

namespace ouro::detail {

// Which slots are being read by those who unpack a page: one each at a time. The thread that commits leaves
// these as they are, free or not, however long it takes: it has others.
class SlotReaders {
public:
    static constexpr std::uint32_t kMost = 16;

    // The number of a reader, to be left again; kMost when so many read already.
    [[nodiscard]] std::uint32_t enter() noexcept {
        std::uint32_t taken = taken_.load(std::memory_order_relaxed);
        for (;;) {
            const auto number = static_cast<std::uint32_t>(std::countr_one(taken));
            if (number >= kMost) return kMost;
            if (taken_.compare_exchange_weak(taken, taken | 1U << number, std::memory_order_acquire,
                                             std::memory_order_relaxed))
                return number;
        }
    }
    void leave(std::uint32_t number) noexcept {
        slots_[number].store(0, std::memory_order_release);
        taken_.fetch_and(~(1U << number), std::memory_order_release);
    }
    // Instead of the one before. Good if the version is there still: see ReadGate.
    void look_at(std::uint32_t number, std::uint32_t slot) noexcept {
        slots_[number].store(slot, std::memory_order_seq_cst);
    }

    // The slots that are looked at. Where the gate is closed, or of free slots, nobody has good reason to
    // look at any other from now on.
    class LookedAt {
    public:
        [[nodiscard]] bool is_empty() const noexcept { return count_ == 0; }
        [[nodiscard]] bool has(std::uint32_t slot) const noexcept {
            for (std::uint32_t index = 0; index < count_; ++index)
                if (slots_[index] == slot) return true;
            return false;
        }

    private:
        friend SlotReaders;
        std::array<std::uint32_t, kMost> slots_;
        std::uint32_t count_ = 0;
    };
    [[nodiscard]] LookedAt looked_at() const noexcept {
        LookedAt list;
        for (const Word& each : slots_)
            if (const std::uint32_t slot = each.load(std::memory_order_seq_cst); slot != 0)
                list.slots_[list.count_++] = slot;
        return list;
    }

private:
    using Word = std::atomic<std::uint32_t>;

    alignas(64) std::array<Word, kMost> slots_{};
    std::atomic<std::uint32_t> taken_ = 0;
};

}  // namespace ouro::detail
