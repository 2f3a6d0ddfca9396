#pragma once

#include <ouro/base/hash.hpp>
#include <ouro/streams/state_ring.hpp>

#include <atomic>
#include <cstdint>
#include <thread>

#include <sched.h>

namespace ouro::testing_support {

// A thread that reads the past of a ring: takes a view, holds it while ticks are committed and given up, and
// looks whether it still reads the same. Beside that it does nothing but give way; it cannot end, where calls
// to the system are forbidden, and lives as long as the process.
class PastWalker {
public:
    // The ring stays where it is.
    void start(const StateRing& ring) {
        std::thread([this, &ring] {
            for (unsigned round = 0; !stops_.load(); ++round)
                read_one(ring, round);
            has_stopped_.store(true);
            for (;;)
                ::sched_yield();
        }).detach();
        is_started_ = true;
    }
    // It reads no more.
    void stop() {
        stops_.store(true);
        while (is_started_ && !has_stopped_.load())
            ::sched_yield();
    }

    [[nodiscard]] std::uint64_t views() const { return views_.load(); }
    [[nodiscard]] bool has_seen_change() const { return has_seen_change_.load(); }

private:
    void read_one(const StateRing& ring, unsigned round) {
        const Tick newest = ring.newest();
        const Tick back = round % 30;
        const auto view = ring.view(newest > back ? newest - back : 0);
        // Gone meanwhile, thinned out, or behind the newest after going back.
        if (!view) {
            ::sched_yield();
            return;
        }
        const std::uint64_t before = sum_of(*view, round);
        for (int waited = 0; waited < 200 && ring.newest() - newest < 3; ++waited)
            ::sched_yield();
        if (sum_of(*view, round) != before) has_seen_change_.store(true);
        views_.fetch_add(1);
    }

    static std::uint64_t sum_of(const TickView& view, unsigned round) {
        std::uint64_t sum = 0;
        for (std::uint32_t index = 0; index < 40; ++index) {
            const std::uint32_t page = 16 + (index * 17 + round) % 1000;
            sum += hash_bytes(view.page(page), kStatePageBytes, page);
        }
        return sum;
    }

    bool is_started_ = false;
    std::atomic<bool> stops_ = false;
    std::atomic<bool> has_stopped_ = false;
    std::atomic<std::uint64_t> views_ = 0;
    std::atomic<bool> has_seen_change_ = false;
};

}  // namespace ouro::testing_support
