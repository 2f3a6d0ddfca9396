// Every allocation of every collection fails once, and from some point on all do: the call says so, the
// collection is as it was, and nothing is lost.
#include "strict_resource.hpp"
#include "tracked.hpp"

#include <ouro/base/random.hpp>
#include <ouro/memory/collections/bit_set.hpp>
#include <ouro/memory/collections/capacity_pool.hpp>
#include <ouro/memory/collections/compressed_sparse_array.hpp>
#include <ouro/memory/collections/pooled_vector.hpp>
#include <ouro/memory/collections/ring_buffer.hpp>
#include <ouro/memory/collections/soa_block.hpp>
#include <ouro/memory/collections/spsc_ring.hpp>
#include <ouro/memory/collections/string_interner.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

using ouro::MemoryResource;
using ouro::Status;
using ouro::testing_support::StrictResource;
using ouro::testing_support::Tracked;

// Runs the scenario with the n-th call failing, for every n there is; then with all from the n-th on failing.
// The scenario counts the failures it saw.
template <class Scenario>
void sweep(Scenario scenario) {
    for (const bool only_once : {true, false}) {
        for (std::uint64_t n = 0;; ++n) {
            SCOPED_TRACE((only_once ? "failing call " : "failing from call ") + std::to_string(n));
            StrictResource heap;
            heap.fail_calls(n, only_once ? n + 1 : StrictResource::kNever);
            scenario(heap);
            if (testing::Test::HasFatalFailure()) return;
            ASSERT_EQ(heap.live_blocks(), 0U);
            ASSERT_EQ(Tracked::live, 0);
            if (heap.calls() <= n) break;
            ASSERT_LT(n, 1000U) << "the scenario never ends";
        }
    }
}

template <class T>
void fill_vector(MemoryResource& heap) {
    ouro::PooledVector<T> vector(heap);
    std::vector<std::uint32_t> model;
    const auto same = [&] {
        ASSERT_EQ(vector.size(), model.size());
        for (std::size_t i = 0; i < model.size(); ++i)
            ASSERT_EQ(vector[i], T(model[i]));
    };
    for (std::uint32_t i = 0; i < 100; ++i) {
        if (vector.push_back(T(i))) model.push_back(i);
        if (vector.insert(vector.begin(), T(i))) model.insert(model.begin(), i);
        if (i == 40 && vector.reserve(500) == Status::ok) {
            ASSERT_GE(vector.capacity(), 500U);
        }
        if (i == 50 && vector.shrink_to_fit() == Status::ok) {
            ASSERT_GE(vector.capacity(), vector.size());
        }
        if (i == 60 && vector.resize(vector.size() + 300) == Status::ok) model.resize(model.size() + 300);
        ASSERT_NO_FATAL_FAILURE(same());
    }
}

TEST(Exhaustion, PooledVector) {
    sweep([](StrictResource& heap) { fill_vector<std::uint32_t>(heap); });
    sweep([](StrictResource& heap) { fill_vector<Tracked>(heap); });
}

TEST(Exhaustion, PooledVectorOnACapacityPool) {
    sweep([](StrictResource& heap) {
        ouro::CapacityPool pool(heap);
        fill_vector<std::uint32_t>(pool);
        fill_vector<Tracked>(pool);
        ASSERT_EQ(pool.check(), Status::ok);
        pool.trim();
    });
}

TEST(Exhaustion, Rings) {
    sweep([](StrictResource& heap) {
        auto ring = ouro::RingBuffer<Tracked>::create(heap, 10);
        if (ring) ring->push_back_overwriting(Tracked(1));
        auto lane = ouro::SpscRing<Tracked>::create(heap, 10);
        if (lane) {
            ASSERT_EQ(lane->emplace(1U), Status::ok);
        }
    });
}

TEST(Exhaustion, BitSet) {
    sweep([](StrictResource& heap) {
        ouro::BitSet set(heap);
        for (std::size_t bits = 1; bits < 1000; bits += 90) {
            const std::size_t before = set.size();
            const std::size_t count = set.count();
            if (set.resize(bits) == Status::ok) {
                set.set(bits - 1);
                ASSERT_EQ(set.count(), count + 1);
            } else {
                ASSERT_EQ(set.size(), before);
                ASSERT_EQ(set.count(), count);
            }
        }
        const auto copy = set.clone();
        if (copy) {
            ASSERT_TRUE(*copy == set);
        }
    });
}

TEST(Exhaustion, SoaBlock) {
    sweep([](StrictResource& heap) {
        ouro::SoaBlock<std::uint32_t, Tracked> block(heap);
        std::size_t rows = 0;
        for (std::uint32_t i = 0; i < 300; ++i) {
            rows += block.emplace(i, Tracked(i)) ? 1U : 0U;
            ASSERT_EQ(block.size(), rows);
            if (i == 100 && block.reserve(1000) == Status::ok) {
                ASSERT_GE(block.capacity(), 1000U);
            }
            if (i == 150) (void)block.shrink_to_fit();
        }
        if (block.resize(2000) == Status::ok) rows = 2000;
        ASSERT_EQ(block.size(), rows);
        for (auto [number, tracked] : block)
            ASSERT_EQ(number, tracked.value);
    });
}

TEST(Exhaustion, StringInterner) {
    sweep([](StrictResource& heap) {
        ouro::StringInterner interner(heap);
        std::vector<std::string> texts;
        for (int i = 0; i < 300; ++i) {
            const std::string text = "text " + std::to_string(i) + std::string(i % 100 == 99 ? 3000 : 0, '.');
            const auto id = interner.intern(text);
            if (id) {
                ASSERT_EQ(static_cast<std::size_t>(*id), texts.size());
                texts.push_back(text);
            } else {
                ASSERT_EQ(interner.find(text).status(), Status::not_found);
            }
            ASSERT_EQ(interner.size(), texts.size());
        }
        ASSERT_EQ(interner.check(), Status::ok);
        for (std::size_t i = 0; i < texts.size(); ++i)
            ASSERT_EQ(interner.texts()[i], texts[i]);
        if (interner.reserve(5000) != Status::ok) {
            ASSERT_EQ(interner.check(), Status::ok);
        }
    });
}

// Sets, replaces, erases and packs; the model follows what succeeded.
void use_sparse_array(ouro::CompressedSparseArray<std::uint32_t, 64>& array) {
    std::map<std::uint32_t, std::uint32_t> model;
    ouro::Random random(1);
    for (int step = 0; step < 200; ++step) {
        const std::uint32_t index = random.below(8) * 40'000 + random.below(100);
        if (random.chance(0.7)) {
            if (array.set(index, index + 1) == Status::ok) model[index] = index + 1;
        } else if (array.erase(index) == Status::ok) {
            ASSERT_EQ(model.erase(index), 1U);
        }
        if (step % 50 == 49) (void)array.compress_cold();
    }
    ASSERT_EQ(array.check(), Status::ok);
    ASSERT_EQ(array.size(), model.size());
    for (const auto& [index, value] : model) {
        const auto found = array.get(index);
        if (found) {
            ASSERT_EQ(*found, value);
        }
        ASSERT_TRUE(found || found.status() == Status::out_of_memory);
    }
}

TEST(Exhaustion, CompressedSparseArray) {
    sweep([](StrictResource& heap) {
        auto array = ouro::CompressedSparseArray<std::uint32_t, 64>::create(heap, {.max_raw_chunks = 3});
        if (array) use_sparse_array(*array);
    });
}

}  // namespace
