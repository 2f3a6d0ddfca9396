#pragma once

#include "paused_workers.hpp"

#include <ouro/memory/memory_resource.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

// Threads that allocate from one resource and free each other's blocks, while one of them is stopped.
namespace ouro::testing_support {

constexpr std::size_t kPlaces = 256;
constexpr std::size_t kPlaceAlignment = 16;
constexpr int kMuchPatience = 200'000;
// Enough where the others stand still for ever.
constexpr int kSomePatience = 3000;

// What the child's threads share. A place holds a block of its own size, or null.
struct SharedPlaces {
    MemoryResource* resource = nullptr;
    std::array<std::atomic<std::byte*>, kPlaces> places = {};
};
inline SharedPlaces g_shared;

constexpr std::size_t size_of_place(std::size_t place) {
    return 16 + place * 24;
}
constexpr std::size_t size_of_all_places() {
    std::size_t sum = 0;
    for (std::size_t place = 0; place < kPlaces; ++place)
        sum += size_of_place(place);
    return sum;
}

// Puts the block, or none, into a place, and frees what lay there, whoever allocated it.
inline void put_into_place(std::size_t place, std::byte* block) {
    std::byte* const old = g_shared.places[place].exchange(block);
    if (old != nullptr) g_shared.resource->deallocate({old, size_of_place(place)}, kPlaceAlignment);
}

inline void work_on_places(std::size_t, std::uint32_t random) {
    const std::size_t place = random % kPlaces;
    put_into_place(place, nullptr);
    const auto block = g_shared.resource->allocate(size_of_place(place), kPlaceAlignment);
    if (block) put_into_place(place, block->data);
}

// Of a child: the workers use the resource until the process is gone.
inline Outcome pause_again_and_again(MemoryResource& resource, int patience, const Pauses& pauses = {},
                                     WorkStep step = work_on_places) {
    g_shared.resource = &resource;
    return pause_again_and_again(step, patience, pauses);
}

// How the child that ends with that outcome ended, as waitpid tells.
template <class Pause>
int run_in_child(Pause pause) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(static_cast<int>(pause()));
    int state = 0;
    EXPECT_GT(child, 0);
    EXPECT_EQ(::waitpid(child, &state, 0), child);
    return state;
}

inline void expect_that_everyone_went_on(int state) {
    ASSERT_TRUE(WIFEXITED(state)) << "killed by signal " << WTERMSIG(state) << " (31: a futex call was made)";
    EXPECT_EQ(static_cast<Outcome>(WEXITSTATUS(state)), Outcome::everyone_went_on)
        << "5: the others stood still while one was paused; 6: a call failed that should not";
}

}  // namespace ouro::testing_support
