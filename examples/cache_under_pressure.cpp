// A cache that gives memory back when it gets tight: it fills as it likes, and when its budget is
// 70 % full a handler drops the oldest entries, outside of any allocation. Nothing fails.
#include <ouro/memory/allocator.hpp>
#include <ouro/memory/small_object_allocator.hpp>
#include <ouro/memory/tag.hpp>
#include <ouro/observe/budget.hpp>
#include <ouro/observe/charged_allocator.hpp>
#include <ouro/observe/ledger.hpp>
#include <ouro/observe/pressure.hpp>

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
        std::printf("%s pressure: %zu bytes wanted, %zu freed, %zu entries left\n",
                    ouro::pressure_level_name(level).data(), bytes_wanted, freed, entries_.size());
        return freed;
    }

private:
    ouro::Allocator memory_;
    std::deque<ouro::MemoryBlock> entries_;
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
    for (int frame = 0; frame < 300; ++frame) {
        all_fit = all_fit && cache.add(16 << 10);
        monitor.poll();  // once a frame; or a worker does it: monitor.start_worker()
    }
    const ouro::PressureStats stats = monitor.stats();
    std::printf("%llu calls freed %llu bytes; never more than %zu in use\n",
                static_cast<unsigned long long>(stats.handler_calls),
                static_cast<unsigned long long>(stats.freed_bytes), ouro::use_of(*tag).peak_bytes);
    const bool right = all_fit && stats.handler_calls > 5 && ouro::use_of(*tag).failures == 0;
    cache.relieve(ouro::PressureLevel::critical, 0);
    return right && monitor.remove(cache) && ouro::use_of(*tag).live_bytes == 0 ? 0 : 1;
}
