#pragma once

#include "harness/measure.hpp"

#include <ouro/base/random.hpp>

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

// The same work for every pool, compiled together with it so that what can be inlined is. A pool here is a
// class with take(), give(void*) and held_bytes(). Each object is written when it is taken and read when it
// is given back; the sum proves that no two shared memory. Between any two calls the compiler must believe
// that unknown code ran, as it does around real objects; otherwise it keeps a pool's state in registers for
// the whole loop, and what is measured is the loop.
namespace ouro::bench {

inline constexpr std::size_t kLifoBatch = 256;
inline constexpr std::size_t kLiveObjects = 10'000;
inline constexpr std::size_t kChurnBatch = 100;

// As keep() of the harness, for all memory at once.
inline void see_memory() noexcept {
    asm volatile("" : : : "memory");
}

template <class Pool>
void* take_and_write(Pool& pool, std::uint64_t value) {
    void* object = pool.take();
    std::memcpy(object, &value, sizeof(value));
    see_memory();
    return object;
}
template <class Pool>
std::uint64_t read_and_give(Pool& pool, void* object) {
    std::uint64_t value = 0;
    std::memcpy(&value, object, sizeof(value));
    pool.give(object);
    see_memory();
    return value;
}

// Which of the live objects each turn replaces: no object twice in a turn, and the same for all candidates.
// Few enough turns to stay in the nearest cache.
class ChurnOrder {
public:
    static constexpr std::size_t kTurns = 32;

    ChurnOrder() {
        Random random(7);
        std::vector<std::uint16_t> all(kLiveObjects);
        for (std::size_t i = 0; i < all.size(); ++i)
            all[i] = static_cast<std::uint16_t>(i);
        for (auto& turn : turns_) {
            for (std::size_t i = 0; i < kChurnBatch; ++i) {
                const std::size_t other = i + random.below(static_cast<std::uint32_t>(all.size() - i));
                std::swap(all[i], all[other]);
                turn[i] = all[i];
            }
        }
    }

    [[nodiscard]] const std::array<std::uint16_t, kChurnBatch>& turn(std::size_t index) const noexcept {
        return turns_[index % kTurns];
    }

private:
    std::array<std::array<std::uint16_t, kChurnBatch>, kTurns> turns_;
};

// One operation is a batch of pairs; ns of one pair are what counts.
template <class MakePool>
Work lifo_work(MakePool make_pool) {
    return [make_pool](Round& round) {
        auto pool = make_pool();
        std::array<void*, kLifoBatch> objects{};
        std::uint64_t sum = 0;
        const auto batches = [&](std::uint64_t count) {
            for (std::uint64_t batch = 0; batch < count; ++batch) {
                for (std::size_t i = 0; i < kLifoBatch; ++i)
                    objects[i] = take_and_write(pool, batch + i);
                for (std::size_t i = kLifoBatch; i-- > 0;)
                    sum += read_and_give(pool, objects[i]);
            }
        };
        batches(4);  // growth and first touch
        sum = 0;
        const std::uint64_t count = (round.operations() + kLifoBatch - 1) / kLifoBatch;
        round.time([&] { batches(count); });
        round.check(sum);
        round.use_memory(pool.held_bytes());
    };
}

template <class MakePool>
Work churn_work(MakePool make_pool, const ChurnOrder& order) {
    return [make_pool, &order](Round& round) {
        auto pool = make_pool();
        std::vector<void*> objects(kLiveObjects);
        for (std::size_t i = 0; i < objects.size(); ++i)
            objects[i] = take_and_write(pool, i);
        std::uint64_t sum = 0;
        const auto turns = [&](std::uint64_t count) {
            for (std::uint64_t turn = 0; turn < count; ++turn) {
                const auto& chosen = order.turn(turn);
                for (const std::uint16_t index : chosen)
                    sum += read_and_give(pool, objects[index]);
                for (const std::uint16_t index : chosen)
                    objects[index] = take_and_write(pool, turn + index);
            }
        };
        turns(ChurnOrder::kTurns);
        sum = 0;
        const std::uint64_t count = (round.operations() + kChurnBatch - 1) / kChurnBatch;
        round.time([&] { turns(count); });
        round.check(sum);
        round.use_memory(pool.held_bytes());
        for (void* object : objects)
            pool.give(object);
    };
}

// Both loads for one kind of pool.
struct PoolLoads {
    Work lifo;
    Work churn;
};

template <class MakePool>
PoolLoads pool_loads(MakePool make_pool, const ChurnOrder& order) {
    return {lifo_work(make_pool), churn_work(make_pool, order)};
}

}  // namespace ouro::bench
