// An array that grows without ever moving: addresses are reserved for the most it may need, memory is
// committed as it is used, and a guard page turns the one write too many into a fault at the place of the
// mistake.
#include <ouro/os/reservation.hpp>

#include <cstdint>
#include <cstdio>

int main() {
    namespace os = ouro::os;
    auto space = os::Reservation::create({.bytes = std::size_t{16} << 30}, os::page_size());
    if (!space) {
        std::printf("cannot reserve: %s\n", ouro::status_text(space.status()).data());
        return 1;
    }
    constexpr std::size_t kStep = std::size_t{1} << 20;
    auto* numbers = reinterpret_cast<std::uint64_t*>(space->block().data);
    std::size_t committed = 0;
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < 1'000'000; ++i) {
        if ((i + 1) * sizeof(*numbers) > committed) {
            if (const auto more = space->commit(committed, kStep); !more) return 1;
            committed += kStep;
        }
        numbers[i] = i;
        sum += numbers[i];
    }
    std::printf("reserved 16 GiB, committed %zu MiB, the first element is still at %p, sum %llu\n",
                committed >> 20, static_cast<void*>(numbers), static_cast<unsigned long long>(sum));
    return sum == 499'999'500'000 ? 0 : 1;
}
