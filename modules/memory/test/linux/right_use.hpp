#pragma once

#include <ouro/memory/memory_resource.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

// Right use of a resource, for programs without a test framework: what is wrong ends them.
namespace ouro::testing_support {

[[noreturn]] inline void fail(const char* what) {
    std::fprintf(stderr, "probe: %s\n", what);
    std::_Exit(2);
}

inline void require(bool holds, const char* what) {
    if (!holds) fail(what);
}

// Tells Valgrind to look at every byte.
inline void require_filled(MemoryBlock block, std::size_t size, std::byte value) {
    require(std::all_of(block.data, block.data + size, [=](std::byte byte) { return byte == value; }),
            "a block does not hold what was written");
}

struct Random {
    std::size_t operator()(std::size_t below) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        return static_cast<std::size_t>(state >> 33) % below;
    }
    std::uint64_t state = 1;
};

struct Habits {
    std::size_t max_size = 3000;
    std::size_t max_alignment = 256;
    // Frees the newest first.
    bool keeps_order = false;
    bool moves_any = true;
};

struct Live {
    MemoryBlock block;
    std::size_t alignment;
    std::byte value;
};

// Allocates, fills, changes and frees blocks of all kinds.
class Exercise {
public:
    Exercise(MemoryResource& resource, const Habits& habits) : resource_(resource), habits_(habits) {}

    void run(int steps) {
        for (int step = 0; step < steps; ++step) {
            if (count_ == live_.size() || (count_ != 0 && random_(3) == 0)) {
                change(choose());
            } else {
                allocate();
            }
        }
        require(resource_.check() == Status::ok, "check() of right use failed");
        while (count_ != 0)
            free(count_ - 1);
        require(resource_.check() == Status::ok, "check() of an empty resource failed");
    }

private:
    std::size_t choose() { return habits_.keeps_order ? count_ - 1 : random_(count_); }

    void allocate() {
        const std::size_t alignment = std::min(std::size_t{1} << random_(9), habits_.max_alignment);
        // A large one now and then.
        const std::size_t size = 1 + random_(random_(8) == 0 ? habits_.max_size : habits_.max_size / 8);
        const auto block = resource_.allocate(size, alignment);
        if (!block) return;
        live_[count_++] = {*block, alignment, next_value()};
        fill(live_[count_ - 1]);
    }

    void change(std::size_t index) {
        Live& live = live_[index];
        require_filled(live.block, live.block.size, live.value);
        const std::size_t what = random_(4);
        if (what > 1 || (what == 0 && !habits_.moves_any)) return free(index);
        const std::size_t size = 1 + random_(habits_.max_size);
        const std::size_t before = live.block.size;
        const auto changed = what == 0 ? resource_.reallocate(live.block, size, live.alignment)
                                       : resource_.try_resize(live.block, size, live.alignment);
        if (changed) live.block = *changed;
        require_filled(live.block, std::min(before, std::min(live.block.size, size)), live.value);
        fill(live);
    }

    void free(std::size_t index) {
        const Live live = live_[index];
        require_filled(live.block, live.block.size, live.value);
        live_[index] = live_[--count_];
        resource_.deallocate(live.block, live.alignment);
    }

    std::byte next_value() { return static_cast<std::byte>(random_(256)); }
    static void fill(const Live& live) { std::memset(live.block.data, int(live.value), live.block.size); }

    MemoryResource& resource_;
    Habits habits_;
    Random random_;
    std::array<Live, 40> live_{};
    std::size_t count_ = 0;
};

}  // namespace ouro::testing_support
