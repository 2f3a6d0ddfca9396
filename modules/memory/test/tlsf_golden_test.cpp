// The same calls leave the same bytes in every compiler, optimisation level and platform. A change of this
// value changes every recorded state that holds a heap, and needs a decision record that says why.
#include "tlsf_image.hpp"
#include "tlsf_script.hpp"

#include <ouro/base/hash.hpp>

#include <gtest/gtest.h>

namespace {

using ouro::testing_support::TlsfImage;
using ouro::testing_support::TlsfScript;

TEST(Golden, TheImageOfAHeapAfterManyCalls) {
    const TlsfImage image(std::size_t{8} << 20);
    ouro::TlsfHeap& heap = image.make_heap();
    std::uint64_t hash = ouro::hash_bytes(image.memory().bytes());
    TlsfScript script(2024);
    for (int part = 0; part < 10; ++part) {
        script.run(heap, image.memory().data, 2000);
        hash = ouro::combine_hash(hash, ouro::hash_bytes(image.memory().bytes()));
    }
    // The heap was full at times: refusals are part of what must be the same.
    EXPECT_GT(script.refused(), 0);
    EXPECT_EQ(heap.check(), ouro::Status::ok);
    EXPECT_EQ(hash, 0x6d39c329dbfd4a22U);
}

}  // namespace
