// A cache that gives memory back when it gets tight: it fills as it likes, and when its budget is
// 70 % full a handler drops the oldest pictures, outside of any allocation. Half of the budget is then
// taken away, and it drops all of them. Nothing fails.
#include <ouro/memory/allocator.hpp>
#include <ouro/memory/small_object_allocator.hpp>
#include <ouro/memory/tag.hpp>
#include <ouro/observe/budget.hpp>
#include <ouro/observe/charged_allocator.hpp>
#include <ouro/observe/ledger.hpp>
#include <ouro/observe/pressure.hpp>

#include <algorithm>
#include <cstdio>
#include <deque>

class Cache final : public ouro::PressureHandler {
public:
    explicit Cache(ouro::Allocator memory) noexcept : memory_(memory) {}

    bool add(std::size_t bytes) {
        const auto entry = memory_.allocate(bytes);
        if (entry) entries_.push_back(*entry);
        return entry.has_value();
    }
    // The oldest first, until there is enough; at the highest level all of them.
    std::size_t relieve(ouro::PressureLevel level, std::size_t bytes_wanted) noexcept override {
        std::size_t freed = 0;
        while (!entries_.empty() && (freed < bytes_wanted || level == ouro::PressureLevel::critical)) {
            freed += entries_.front().size;
            memory_.deallocate(entries_.front());
            entries_.pop_front();
        }
        highest_ = std::max(highest_, level);
        return freed;
    }
    [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
    [[nodiscard]] ouro::PressureLevel highest() const noexcept { return highest_; }

private:
    ouro::Allocator memory_;
    std::deque<ouro::MemoryBlock> entries_;
    ouro::PressureLevel highest_ = ouro::PressureLevel::none;
};

int main() {
    auto heap = ouro::SmallObjectAllocator::create({});
    const auto tag = ouro::register_tag("pictures");
    if (!heap || !tag || !ouro::kObserving) return heap && tag ? 0 : 1;
    if (!ouro::set_budget(*tag, {.hard_bytes = 1 << 20})) return 1;
    ouro::ChargedAllocator memory(*heap, *tag);
    Cache cache(memory);
    ouro::PressureMonitor monitor;
    if (!monitor.configure({.tag = *tag, .thresholds = {.low_percent = 70}, .watches_machine = false}) ||
        !monitor.add(cache, 10, "pictures"))
        return 1;

    bool all_fit = true;
    for (int frame = 1; frame <= 240; ++frame) {
        all_fit = cache.add(16 << 10) && all_fit;
        monitor.poll();  // once a frame; or a worker does it: monitor.start_worker()
        if (frame % 20 == 0) {
            std::printf("frame %3d: %3zu KiB in use, %2zu pictures; so far %4llu KiB given back\n", frame,
                        ouro::use_of(*tag).live_bytes >> 10, cache.size(),
                        static_cast<unsigned long long>(monitor.stats().freed_bytes >> 10));
        }
        if (frame == 140) {
            std::puts("half of the budget is taken away:");
            if (!ouro::set_budget(*tag, {.hard_bytes = 1 << 19})) return 1;
            monitor.poll();  // before the next request, which would be refused
        }
    }
    const ouro::PressureStats stats = monitor.stats();
    std::printf("a handler was called %llu times, at worst for %s pressure; nothing failed\n",
                static_cast<unsigned long long>(stats.handler_calls),
                ouro::pressure_level_name(cache.highest()).data());
    const bool right = all_fit && stats.handler_calls > 5 && ouro::use_of(*tag).failures == 0 &&
                       cache.highest() == ouro::PressureLevel::critical;
    cache.relieve(ouro::PressureLevel::critical, 0);
    return right && monitor.remove(cache) && ouro::use_of(*tag).live_bytes == 0 ? 0 : 1;
}
