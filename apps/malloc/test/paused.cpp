// Usage: paused <small|large> [wake]
// Threads that allocate, change and free one another's blocks, while one of them is stopped again and again.
// A call of futex ends the program by SIGSYS; with `wake`, a call that wakes another does not.
#include "paused_workers.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {

using ouro::testing_support::Forbidden;
using ouro::testing_support::Pauses;

constexpr std::size_t kPlaces = 256;
constexpr std::size_t kFewPlaces = 12;
std::array<std::atomic<void*>, kPlaces> g_places = {};

// Puts a block into a place and frees what lay there, whoever allocated it.
void put(std::size_t place, void* block) {
    std::free(g_places[place].exchange(block));
}

void work_on_small(std::size_t, std::uint32_t random) {
    const std::size_t place = random % kPlaces;
    const std::size_t size = 1 + place * 24;
    put(place, nullptr);
    void* block = random / kPlaces % 4 == 0 ? std::calloc(1, size) : std::malloc(size);
    if (random / kPlaces % 8 == 1) block = std::realloc(block, size * 2);
    if (block == nullptr) std::abort();
    std::memset(block, 1, size);
    put(place, block);
}

// Units of the heap, and mappings of their own: of those the more, the longer the pauses take.
void work_on_large(std::size_t, std::uint32_t random) {
    constexpr std::size_t kMapped = std::size_t{33} << 20;
    const std::size_t place = random % kFewPlaces;
    const std::size_t size = place < 3 ? kMapped + place : std::size_t{50'000} << place % 6;
    put(place, nullptr);
    auto* block = static_cast<char*>(std::malloc(size));
    if (random / kFewPlaces % 4 == 1) block = static_cast<char*>(std::realloc(block, size + size / 4));
    if (block == nullptr) std::abort();
    block[0] = block[size - 1] = 1;
    put(place, block);
}

}  // namespace

int main(int count, char** words) {
    if (count < 2) return 2;
    const bool is_large = std::strcmp(words[1], "large") == 0;
    const Forbidden forbidden = count > 2 ? Forbidden::futex_calls_but_wake : Forbidden::every_futex_call;
    constexpr int kMuchPatience = 200'000;
    const Pauses pauses = is_large ? Pauses{.count = 30, .steps = 50} : Pauses{.count = 60, .steps = 1000};
    std::_Exit(static_cast<int>(ouro::testing_support::pause_again_and_again(
        is_large ? work_on_large : work_on_small, kMuchPatience, pauses, forbidden)));
}
