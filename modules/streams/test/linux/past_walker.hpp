#pragma once

#include <ouro/base/hash.hpp>
#include <ouro/os/futex.hpp>
#include <ouro/streams/state_ring.hpp>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <thread>

namespace ouro::testing_support {

// What the simulation says of each tick, in the tick itself: its number and the sum of all else in the first
// segment, taken from the live image before it is committed. A view that has a page of another tick, or is of
// another tick altogether, does not agree with it.
struct TickSeal {
    static constexpr std::uint32_t kFirstPage = 16;
    static constexpr std::uint32_t kPages = 1024;
    // In a place that no tick writes to.
    static constexpr std::uint32_t kPage = kFirstPage + 2;
    static constexpr std::size_t kAt = kStatePageBytes - 16;

    std::uint64_t tick = 0;
    std::uint64_t sum = 0;

    friend bool operator==(const TickSeal&, const TickSeal&) = default;

    // Of the pages that a function has.
    template <class PageOf>
    static TickSeal of(Tick tick, PageOf&& page_of) {
        TickSeal seal{.tick = tick, .sum = 0};
        for (std::uint32_t page = kFirstPage; page < kFirstPage + kPages; ++page)
            seal.sum += hash_bytes(page_of(page), page == kPage ? kAt : kStatePageBytes, page);
        return seal;
    }
    static TickSeal read(const std::byte* page) {
        TickSeal seal;
        std::memcpy(&seal, page + kAt, sizeof(seal));
        return seal;
    }
    // Before the commit.
    static void write(StateRing& ring) {
        const auto page_of = [&](std::uint32_t page) {
            return ring.image().data + std::size_t{page} * kStatePageBytes;
        };
        const TickSeal seal = of(ring.newest() + 1, page_of);
        std::memcpy(page_of(kPage) + kAt, &seal, sizeof(seal));
        (void)ring.mark(page_of(kPage) + kAt, sizeof(seal));
    }
    // Tick 0 has none.
    static bool is_true(const TickView& view) {
        const TickSeal seal = view.tick() == 0
                                  ? TickSeal{}
                                  : of(view.tick(), [&](std::uint32_t page) { return view.page(page); });
        return read(view.page(kPage)) == seal;
    }
};

// A thread that reads the past of a ring: takes a view, holds it while ticks are committed and given up, and
// looks before and after whether it is what the simulation had then. Beside that it does nothing but give
// way; it cannot end, where calls to the system are forbidden, and lives as long as the process.
class PastWalker {
public:
    // The ring stays where it is, and each tick is sealed.
    void start(const StateRing& ring) {
        std::thread([this, &ring] {
            for (unsigned round = 0; !stops_.load(); ++round)
                read_one(ring, round);
            has_stopped_.store(true);
            for (;;)
                give_way();
        }).detach();
        is_started_ = true;
    }
    // It reads no more.
    void stop() {
        stops_.store(true);
        while (is_started_ && !has_stopped_.load())
            give_way();
    }

    [[nodiscard]] std::uint64_t views() const { return views_.load(); }
    [[nodiscard]] bool has_seen_another() const { return has_seen_another_.load(); }

private:
    static void give_way() {
        const std::atomic<std::uint32_t> nobody_wakes_this = 0;
        (void)os::wait_on(nobody_wakes_this, 0, 1000);
    }

    void read_one(const StateRing& ring, unsigned round) {
        const Tick newest = ring.newest();
        const Tick back = round % 30;
        const auto view = ring.view(newest > back ? newest - back : 0);
        // Gone meanwhile, thinned out, or behind the newest after going back.
        if (!view) {
            give_way();
            return;
        }
        if (!TickSeal::is_true(*view)) has_seen_another_.store(true);
        for (int waited = 0; waited < 200 && ring.newest() - newest < 3; ++waited)
            give_way();
        if (!TickSeal::is_true(*view)) has_seen_another_.store(true);
        views_.fetch_add(1);
    }

    bool is_started_ = false;
    std::atomic<bool> stops_ = false;
    std::atomic<bool> has_stopped_ = false;
    std::atomic<std::uint64_t> views_ = 0;
    std::atomic<bool> has_seen_another_ = false;
};

}  // namespace ouro::testing_support
