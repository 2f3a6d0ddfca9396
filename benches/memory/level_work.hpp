#pragma once

#include "harness/measure.hpp"
#include "memory/heaps.hpp"
#include "memory/object_checks.hpp"
#include "memory/resident_memory.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ouro::bench {

struct LevelPlan {
    // Large things: meshes, textures, sounds.
    std::uint64_t resources = 0;
    // Small things: the entities with their names.
    std::uint64_t entities = 0;
};

// A level: resources of all sizes in a table by name, and small nodes that refer to them.
template <class Heap>
class Level {
public:
    explicit Level(const Heap& heap)
        : heap_(heap),
          nodes_(HeapAllocator<Node*, Heap>(heap)),
          resources_(0, Hash(), Equal(), HeapAllocator<std::pair<const Text, Resource>, Heap>(heap)) {}

    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

    // As many bytes as were read from the disk, in the end.
    std::uint64_t load(const LevelPlan& plan) {
        std::uint64_t bytes = 0;
        Lottery lottery(3);
        for (std::uint64_t i = 0; i < plan.resources; ++i) {
            bytes += load_resource(i, lottery);
            for (std::uint64_t n = 0; n < plan.entities / plan.resources; ++n)
                add_node(i, lottery);
        }
        return bytes;
    }

    // In an order that has nothing to do with that of loading. Returns what is still as it was loaded.
    std::uint64_t unload() {
        std::uint64_t sound = 0;
        Lottery lottery(9);
        while (!nodes_.empty()) {
            std::swap(nodes_[lottery.below(nodes_.size())], nodes_.back());
            Node* gone = nodes_.back();
            nodes_.pop_back();
            sound += gone->resource != nullptr ? 1U : 0U;
            gone->name.~Text();
            heap_.free(gone, sizeof(Node));
        }
        for (auto& [name, resource] : resources_) {
            sound += has_stamp(resource.data) ? 1U : 0U;
            heap_.free(resource.data, resource.size);
        }
        resources_.clear();
        return sound;
    }

private:
    using Text = std::basic_string<char, std::char_traits<char>, HeapAllocator<char, Heap>>;
    struct Resource {
        std::byte* data;
        std::size_t size;
    };
    struct Node {
        Text name;
        const Resource* resource;
        float transform[12];
    };
    struct Hash {
        std::size_t operator()(const Text& text) const noexcept {
            return std::hash<std::string_view>()(std::string_view(text.data(), text.size()));
        }
    };
    using Equal = std::equal_to<Text>;

    [[nodiscard]] Text name_of(std::uint64_t number) const {
        Text name("levels/forest/resources/", HeapAllocator<char, Heap>(heap_));
        do
            name.push_back(static_cast<char>('0' + number % 10));
        while ((number /= 10) != 0);
        return name;
    }
    std::size_t load_resource(std::uint64_t number, Lottery& lottery) {
        constexpr std::size_t kPageBytes = 4096;
        const std::size_t size = lottery.size_between(64, std::size_t{1} << 20);
        auto* data = static_cast<std::byte*>(heap_.allocate(size));
        for (std::size_t offset = 0; offset < size; offset += kPageBytes)
            stamp(data + offset);
        resources_.emplace(name_of(number), Resource{data, size});
        return size;
    }
    void add_node(std::uint64_t resource, Lottery& lottery) {
        const std::uint64_t wanted = lottery.below(resource + 1);
        const auto found = resources_.find(name_of(wanted));
        void* place = heap_.allocate(sizeof(Node));
        nodes_.push_back(new (place) Node{name_of(nodes_.size()), &found->second, {}});
    }

    const Heap& heap_;
    std::vector<Node*, HeapAllocator<Node*, Heap>> nodes_;
    std::unordered_map<Text, Resource, Hash, Equal, HeapAllocator<std::pair<const Text, Resource>, Heap>>
        resources_;
};

template <class Heap>
Work load_levels(const Heap& owner, const LevelPlan& plan) {
    return [owner, plan](Round& round) {
        const Heap heap = owner;
        std::uint64_t total = 0;
        round.time([&] {
            for (std::uint64_t i = 0; i < round.operations(); ++i) {
                Level<Heap> level(heap);
                total += level.load(plan);
                weigh_here(round);
                total += level.unload();
            }
        });
        round.check(total);
    };
}

}  // namespace ouro::bench
