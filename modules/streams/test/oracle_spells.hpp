#pragma once

#include <ouro/base/random.hpp>
#include <ouro/os/fault_injection.hpp>
#include <ouro/streams/state_ring.hpp>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace ouro::testing_support {

// Pages that are written in every tick for a while, and then no more: the kernel's tracker leaves them open
// and looks at them by itself. Where calls can be made to fail, those of the tracker do now and then.
class OracleSpells {
public:
    // Before a tick ends. Without a segment that the kernel tracks nothing happens.
    void write(StateRing& ring, Random& random) {
        if (ticks_left_ == 0 && !begin(ring, random)) return;
        --ticks_left_;
        // Some of them miss a tick.
        const std::uint32_t missed = random.below(6) == 0 ? random.below(pages_) : pages_;
        const auto value = static_cast<int>(random.below(256));
        for (std::uint32_t page = 0; page < pages_; ++page) {
            if (page == missed) continue;
            std::byte* const to = ring.image().data + offset_ + std::size_t{page} * kStatePageBytes;
            std::memset(to + random.below(kStatePageBytes), value, 1);
        }
    }

    // Does what asks the tracker, some of whose calls may fail.
    template <class Ask>
    auto ask(Random& random, Ask&& ask) {
        if constexpr (!os::kFaultInjection) return ask();
        if (random.below(12) == 0) fail_some(random);
        auto result = ask();
        failures_ += os::fault_injection::has_fired() ? 1U : 0U;
        os::fault_injection::clear();
        return result;
    }

    [[nodiscard]] std::uint64_t spells() const { return spells_; }
    [[nodiscard]] std::uint64_t failures() const { return failures_; }

private:
    static void fail_some(Random& random) {
        constexpr std::array kCalls = {os::OsCall::scan_pagemap, os::OsCall::userfaultfd_control};
        const os::OsCall call = kCalls[random.below(kCalls.size())];
        const std::uint64_t nth = 1 + random.below(3);
        random.below(2) == 0 ? os::fault_injection::fail_nth(call, nth, ENOMEM)
                             : os::fault_injection::fail_from(call, nth, ENOMEM);
    }

    bool begin(const StateRing& ring, Random& random) {
        const Segment& segment = ring.segments()[0];
        if (segment.tracking != Tracking::kernel || random.below(12) != 0) return false;
        const bool is_all = random.below(3) == 0;
        pages_ = is_all ? segment.page_count() : 1 + random.below(20);
        const std::uint32_t first = random.below(segment.page_count() - pages_ + 1);
        offset_ = static_cast<std::size_t>(segment.offset) + std::size_t{first} * kStatePageBytes;
        ticks_left_ = 4 + random.below(is_all ? 30 : 120);
        ++spells_;
        return true;
    }

    std::uint32_t pages_ = 0;
    std::size_t offset_ = 0;
    std::uint32_t ticks_left_ = 0;
    std::uint64_t spells_ = 0;
    std::uint64_t failures_ = 0;
};

}  // namespace ouro::testing_support
