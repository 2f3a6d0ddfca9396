// Random allocations beside a model, with commits, rollbacks and branches: no block overlaps another, each
// keeps what was written, memory is fresh, and every write of the heap was declared.
#include "sim_rig.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace ouro {
namespace {

using testing_support::SimCampaign;
using testing_support::SimRig;

class HeapSubject {
public:
    struct Block {
        std::uint32_t offset;
        std::uint32_t size;
        unsigned char stamp;
    };
    using Model = std::vector<Block>;

    void step(ImageHeap& heap, Model& model, Random& random) {
        const std::uint32_t choice = random.below(100);
        if (model.empty() || choice < (model.size() < 300 ? 60U : 40U)) return add(heap, model, random);
        const std::uint32_t which = random.below(static_cast<std::uint32_t>(model.size()));
        if (choice < 85) {
            heap.deallocate(memory(heap, model[which]));
            model[which] = model.back();
            return model.pop_back();
        }
        change(heap, model[which], random);
    }

    void expect_same(const ImageHeap& heap, const Model& model) const {
        for (const Block& block : model)
            expect_stamp({memory(heap, block).data, block.size}, block.stamp);
        EXPECT_EQ(heap.stats().heap.live_blocks, model.size());
    }

    void expect_same_past(const ImageHeap&, const PastReader& past, const Model& model) const {
        std::vector<std::byte> bytes;
        for (const Block& block : model) {
            bytes.resize(block.size);
            ASSERT_EQ(past.read(block.offset, bytes), Status::ok);
            expect_stamp({bytes.data(), bytes.size()}, block.stamp);
        }
    }

    [[nodiscard]] int refused() const { return refused_; }

private:
    static std::uint32_t any_size(Random& random) {
        const std::uint32_t kind = random.below(20);
        return 1 + random.below(kind < 14 ? 200U : kind < 19 ? 3000U : 60'000U);
    }
    static MemoryBlock memory(const ImageHeap& heap, const Block& block) {
        return {heap.base().start() + block.offset, block.size};
    }
    static void expect_stamp(MemoryBlock memory, unsigned char stamp) {
        ASSERT_EQ(std::count(memory.begin(), memory.end(), static_cast<std::byte>(stamp)),
                  static_cast<std::ptrdiff_t>(memory.size));
    }
    static void write(ImageHeap& heap, MemoryBlock memory, unsigned char stamp) {
        heap.mark(memory.data, memory.size);
        std::memset(memory.data, stamp, memory.size);
    }

    void add(ImageHeap& heap, Model& model, Random& random) {
        const std::uint32_t size = any_size(random);
        const std::size_t alignment = random.below(8) == 0 ? std::size_t{1} << random.below(13) : 16;
        const auto block = heap.allocate(size, alignment);
        if (!block) {
            EXPECT_EQ(block.status(), Status::capacity_exhausted);
            ++refused_;
            return;
        }
        expect_stamp(*block, 0);
        const auto stamp = static_cast<unsigned char>(random.below(256));
        write(heap, {block->data, size}, stamp);
        model.push_back({heap.offset_of(block->data), size, stamp});
    }

    void change(ImageHeap& heap, Block& block, Random& random) {
        const std::uint32_t size = any_size(random);
        const auto moved = heap.reallocate(memory(heap, block), size);
        if (!moved) {
            EXPECT_EQ(moved.status(), Status::capacity_exhausted);
            ++refused_;
            return expect_stamp(memory(heap, block), block.stamp);
        }
        const std::uint32_t kept = std::min(size, block.size);
        expect_stamp({moved->data, kept}, block.stamp);
        expect_stamp({moved->data + kept, size - kept}, size > block.size ? 0 : block.stamp);
        block = {heap.offset_of(moved->data), size, static_cast<unsigned char>(random.below(256))};
        write(heap, {moved->data, size}, block.stamp);
    }

    int refused_ = 0;
};

TEST(ImageHeapModel, NoWriteOfTheHeapIsUndeclared) {
    struct Run {
        std::uint64_t seed;
        std::uint64_t image_kib;
        int steps;
        bool notes_blocks = false;
    };
    int refused = 0;
    // The largest has several zones.
    for (const Run& run :
         {Run{1, 384, 50'000}, Run{2, 640, 50'000}, Run{3, 3072, 10'000}, Run{4, 384, 20'000, true}}) {
        SCOPED_TRACE("seed " + std::to_string(run.seed));
        SimRig rig(run.image_kib << 10, Tracking::declared, {.notes_blocks = run.notes_blocks});
        ASSERT_TRUE(rig.is_ready());
        HeapSubject subject;
        SimCampaign<HeapSubject>(rig, subject, run.seed).run(run.steps);
        refused += subject.refused();
        if (HasFailure()) return;
    }
    EXPECT_GT(refused, 0) << "never full: refusals were not tested";
}

}  // namespace
}  // namespace ouro
