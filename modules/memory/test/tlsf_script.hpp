#pragma once

#include <ouro/base/random.hpp>
#include <ouro/memory/tlsf_heap.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace ouro::testing_support {

// A reproducible sequence of calls on a heap. Remembers blocks by their offset, so that it can go on in a
// copy of the image, and writes every byte it is given, so that equal calls leave equal images.
class TlsfScript {
public:
    explicit TlsfScript(std::uint64_t seed) : random_(seed) {}

    void run(TlsfHeap& heap, std::byte* base, int steps) {
        for (int step = 0; step < steps; ++step) {
            const std::uint32_t choice = random_.below(100);
            if (choice < 45 || held_.empty()) {
                allocate(heap, base);
            } else if (choice < 80) {
                const Held held = take_random();
                heap.deallocate({base + held.offset, held.size});
            } else {
                reallocate(heap, base);
            }
        }
    }
    void free_all(TlsfHeap& heap, std::byte* base) {
        while (!held_.empty()) {
            const Held held = take_random();
            heap.deallocate({base + held.offset, held.size});
        }
    }
    [[nodiscard]] std::size_t held_blocks() const { return held_.size(); }
    [[nodiscard]] int refused() const { return refused_; }

private:
    struct Held {
        std::size_t offset;
        std::size_t size;
        std::size_t alignment;
    };

    Held take_random() {
        const std::uint32_t index = random_.below(static_cast<std::uint32_t>(held_.size()));
        const Held held = held_[index];
        held_[index] = held_.back();
        held_.pop_back();
        return held;
    }
    std::size_t random_size() {
        // Log-uniform: every doubling from 16 bytes to 64 KiB is as likely.
        const std::uint32_t scale = 16U << random_.below(12);
        return 1 + scale + random_.below(scale);
    }
    void keep(MemoryBlock block, std::byte* base, std::size_t alignment) {
        std::memset(block.data, static_cast<int>(random_.below(256)), block.size);
        held_.push_back({static_cast<std::size_t>(block.data - base), block.size, alignment});
    }
    void allocate(TlsfHeap& heap, std::byte* base) {
        const std::size_t alignment = random_.chance(0.9) ? 16 : std::size_t{1} << random_.below(14);
        const auto block = heap.allocate(random_size(), alignment);
        if (block) {
            keep(*block, base, alignment);
        } else {
            ++refused_;
        }
    }
    void reallocate(TlsfHeap& heap, std::byte* base) {
        const Held held = take_random();
        const MemoryBlock old{base + held.offset, held.size};
        const auto block = heap.reallocate(old, random_size(), held.alignment);
        if (!block) ++refused_;
        keep(block.value_or(old), base, held.alignment);
    }

    Random random_;
    std::vector<Held> held_;
    int refused_ = 0;
};

}  // namespace ouro::testing_support
