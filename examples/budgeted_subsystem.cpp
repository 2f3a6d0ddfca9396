// A subsystem with a budget: the audio may use 256 KiB. At 200 KiB somebody is told, at 256 KiB requests fail
// with a status of their own, and the game goes on. What runs inside needs to know nothing of it.
#include <ouro/memory/small_object_allocator.hpp>
#include <ouro/memory/tag.hpp>
#include <ouro/observe/budget.hpp>
#include <ouro/observe/charged_allocator.hpp>
#include <ouro/observe/default_tags.hpp>
#include <ouro/observe/events.hpp>
#include <ouro/observe/ledger.hpp>

#include <array>
#include <cstdio>
#include <vector>

int main() {
    auto heap = ouro::SmallObjectAllocator::create({});
    if (!heap || !ouro::kObserving) return heap ? 0 : 1;
    ouro::ChargedAllocator memory(*heap);
    const ouro::Tag audio = ouro::default_tags().audio;
    const auto voices = ouro::register_tag("voices", audio);  // a part of it
    if (!voices || !ouro::set_budget(audio, {.soft_bytes = 200 << 10, .hard_bytes = 256 << 10})) return 1;

    std::vector<ouro::MemoryBlock> sounds;
    ouro::Status status = ouro::Status::ok;
    {
        const ouro::TagScope scope(*voices);  // what this thread allocates from here on is for voices
        while (status == ouro::Status::ok) {
            const auto sound = memory.allocate(10'000);
            if (sound) sounds.push_back(*sound);
            status = sound.status();
        }
    }
    const ouro::TagUse use = ouro::use_of(audio);
    std::printf("%zu sounds, %zu bytes, then %s\n", sounds.size(), use.live_bytes,
                ouro::status_name(status).data());

    std::uint64_t cursor = 0;
    std::array<ouro::ObserveEvent, 8> events;
    const std::size_t told = ouro::read_events(cursor, events).count;
    for (std::size_t i = 0; i < told; ++i) {
        std::printf("%s: %s, %llu bytes\n", ouro::tag_name(events[i].tag).data(),
                    events[i].kind == ouro::ObserveEventKind::soft_budget_passed ? "over the soft budget"
                                                                                 : "a request was refused",
                    static_cast<unsigned long long>(events[i].bytes));
    }
    for (const ouro::MemoryBlock& sound : sounds)
        memory.deallocate(sound);  // credited to voices, wherever and whenever it is freed
    const bool right = sounds.size() == 26 && use.live_bytes == 260'000 && use.failures == 1 && told == 2 &&
                       status == ouro::Status::budget_exceeded && ouro::use_of(audio).live_bytes == 0;
    return right ? 0 : 1;
}
