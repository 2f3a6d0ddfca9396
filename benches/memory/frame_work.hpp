#pragma once

#include "harness/measure.hpp"
#include "memory/heaps.hpp"
#include "memory/object_checks.hpp"
#include "memory/resident_memory.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

namespace ouro::bench {

// How much a frame of a middling game holds.
inline constexpr std::size_t kRenderCommands = 2'000;
inline constexpr std::size_t kLabels = 300;
inline constexpr std::size_t kParticleLists = 40;
inline constexpr std::size_t kVisibleThings = 500;

struct Particle {
    float place[3];
    float age;
};

// A frame's data, built and thrown away as an engine without a plan for memory would: lists of commands of
// different lengths, texts that grow, particle lists of unknown length, a table of what is visible.
template <class Heap>
class Frame {
public:
    Frame(const Heap& heap, std::uint64_t seed)
        : heap_(heap),
          lottery_(seed),
          labels_(Texts(heap)),
          particles_(Lists(heap)),
          visible_(0, std::hash<std::uint32_t>(), std::equal_to<std::uint32_t>(), Entries(heap)) {}

    Frame(const Frame&) = delete;
    Frame& operator=(const Frame&) = delete;
    ~Frame() {
        while (newest_ != nullptr) {
            Command* gone = newest_;
            newest_ = gone->before;
            heap_.free(gone, gone->size);
        }
    }

    // Returns a sum over everything in it.
    std::uint64_t build() {
        // The parts of a frame do not come one after the other.
        for (std::size_t step = 0; step < kRenderCommands; ++step) {
            add_command();
            if (step % (kRenderCommands / kLabels) == 0) add_label(step);
            if (step % (kRenderCommands / kParticleLists) == 0) add_particles();
            if (step % (kRenderCommands / kVisibleThings) == 0) add_visible();
        }
        return sum();
    }

private:
    struct Command {
        Command* before;
        std::uint32_t size;
        std::uint32_t kind;
    };
    using Text = std::basic_string<char, std::char_traits<char>, HeapAllocator<char, Heap>>;
    using Texts = HeapAllocator<Text, Heap>;
    using List = std::vector<Particle, HeapAllocator<Particle, Heap>>;
    using Lists = HeapAllocator<List, Heap>;
    using Entries = HeapAllocator<std::pair<const std::uint32_t, std::uint32_t>, Heap>;

    void add_command() {
        const std::size_t size = sizeof(Command) + lottery_.below(12) * 16;
        auto* command = static_cast<Command*>(heap_.allocate(size));
        *command = {newest_, static_cast<std::uint32_t>(size),
                    static_cast<std::uint32_t>(lottery_.below(64))};
        newest_ = command;
    }
    void add_label(std::size_t number) {
        Text& label = labels_.emplace_back(HeapAllocator<char, Heap>(heap_));
        const std::size_t words = 1 + lottery_.below(6);
        for (std::size_t i = 0; i < words; ++i)
            label.append("a word of a label ").push_back(static_cast<char>('a' + number % 26));
    }
    void add_particles() {
        List& list = particles_.emplace_back(HeapAllocator<Particle, Heap>(heap_));
        const std::size_t count = lottery_.size_between(8, 512);
        for (std::size_t i = 0; i < count; ++i)
            list.push_back({{static_cast<float>(i), 0, 0}, 1});
    }
    void add_visible() {
        const auto thing = static_cast<std::uint32_t>(lottery_.below(100'000));
        ++visible_[thing];
    }

    [[nodiscard]] std::uint64_t sum() const {
        std::uint64_t total = 0;
        for (const Command* command = newest_; command != nullptr; command = command->before)
            total += command->kind;
        for (const Text& label : labels_)
            total += label.size();
        for (const List& list : particles_)
            total += list.size();
        for (const auto& [thing, count] : visible_)
            total += std::uint64_t{thing} * count;
        return total;
    }

    const Heap& heap_;
    Lottery lottery_;
    Command* newest_ = nullptr;
    std::vector<Text, Texts> labels_;
    std::vector<List, Lists> particles_;
    std::unordered_map<std::uint32_t, std::uint32_t, std::hash<std::uint32_t>, std::equal_to<std::uint32_t>,
                       Entries>
        visible_;
};

// Of one more frame, while it is there. A heap that can tell what it holds is asked.
template <class Heap, class EndFrame>
void show_memory(Round& round, const Heap& heap, EndFrame end_frame) {
    constexpr bool kCanTell = requires { heap.held_bytes(); };
    if (!kCanTell && !is_weighing()) return;
    {
        Frame<Heap> frame(heap, 1);
        (void)frame.build();
        weigh_here(round);
        if constexpr (kCanTell) round.use_memory(heap.held_bytes());
    }
    end_frame();
}

// One frame an operation, each with other sizes.
template <class Heap, class EndFrame>
Work build_frames(const Heap& owner, EndFrame end_frame) {
    return [owner, end_frame](Round& round) {
        const Heap heap = owner;
        std::uint64_t total = 0;
        round.time([&] {
            for (std::uint64_t i = 0; i < round.operations(); ++i) {
                {
                    Frame<Heap> frame(heap, i + 1);
                    total += frame.build();
                }
                end_frame();
            }
        });
        round.check(total);
        show_memory(round, heap, end_frame);
    };
}

}  // namespace ouro::bench
