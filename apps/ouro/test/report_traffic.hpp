#pragma once

#include <ouro/memory/system_allocator.hpp>
#include <ouro/observe/budget.hpp>
#include <ouro/observe/charged_allocator.hpp>
#include <ouro/observe/events.hpp>

#include <cstdint>
#include <vector>

// Something to report on: three tags below each other, one with a budget that was met.
namespace ouro::test {

class ReportTraffic {
public:
    ReportTraffic()
        : game_(register_tag("traffic-game").value_or(Tag{})),
          creatures_(register_tag("traffic-creatures", game_).value_or(Tag{})),
          memories_(register_tag("traffic-memories", creatures_).value_or(Tag{})),
          sounds_(register_tag("traffic-sounds").value_or(Tag{})) {
        static_cast<void>(set_budget(creatures_, {.soft_bytes = 40'000, .hard_bytes = 64'000}));
        take(game_, 1'000);
        take(creatures_, 30'000);
        give_back();
        take(creatures_, 20'000);
        take(memories_, 25'000);
        // Refused, and again until it is told: of refusals in a row not all are.
        const std::uint64_t told = event_count();
        do {
            take(memories_, 25'000);
        } while (kObserving && event_count() == told);
        take(sounds_, 500);
    }
    ~ReportTraffic() {
        while (!blocks_.empty())
            give_back();
        static_cast<void>(set_budget(creatures_, {}));
    }
    ReportTraffic(const ReportTraffic&) = delete;
    ReportTraffic& operator=(const ReportTraffic&) = delete;

private:
    void take(Tag tag, std::size_t bytes) {
        const TagScope scope(tag);
        if (const auto block = memory_.allocate(bytes)) blocks_.push_back(*block);
    }
    void give_back() {
        memory_.deallocate(blocks_.back());
        blocks_.pop_back();
    }

    SystemAllocator system_ = *SystemAllocator::create({});
    ChargedAllocator<SystemAllocator> memory_{system_};
    Tag game_;
    Tag creatures_;
    Tag memories_;
    Tag sounds_;
    std::vector<MemoryBlock> blocks_;
};

}  // namespace ouro::test
