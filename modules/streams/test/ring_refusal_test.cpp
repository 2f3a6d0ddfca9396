// What a ring that is not made says of why.
#include <ouro/memory/block_registry.hpp>
#include <ouro/streams/ring_refusal.hpp>
#include <ouro/streams/state_ring.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace ouro {
namespace {

constexpr std::uint64_t kUnit = kSegmentAlignment;

struct Refused {
    Status status = Status::ok;
    RingRefusal why;
    std::string text;
};

Refused refused(const StateRingOptions& options) {
    Refused result;
    const auto ring = StateRing::create(options, &result.why);
    result.status = ring.status();
    std::array<char, 200> text{};
    result.text = describe_refusal(result.why, text);
    EXPECT_LT(result.text.size(), text.size() - 1) << "the sentence is cut: " << result.text;
    EXPECT_EQ(result.why.status, result.status);
    return result;
}

Refused refused(const std::vector<SegmentOptions>& segments) {
    return refused({.segments = segments, .history_bytes = std::uint64_t{8} << 20});
}

TEST(RingRefusal, ATooSmallBoundIsToldWithTheLeastThatWillDo) {
    const SegmentOptions world{.name = "world", .bytes = 1 << 20};
    StateRingOptions options{.segments = {&world, 1}, .history_bytes = 1 << 20};
    const Refused result = refused(options);
    EXPECT_EQ(result.status, Status::budget_exceeded);
    EXPECT_EQ(result.why.fault, RingFault::history_bytes);
    EXPECT_EQ(result.why.value, options.history_bytes);
    EXPECT_EQ(result.text, "history_bytes is 1048576, but these segments and settings need " +
                               std::to_string(result.why.bound) + " at least (budget_exceeded)");
    EXPECT_GT(result.why.bound, 2 * world.bytes);
    EXPECT_EQ(*StateRing::least_history_bytes(options), result.why.bound);
}

// Exactly that, for every kind of history: with it the ring is made and works, with a byte less it is not.
TEST(RingRefusal, TheLeastIsTheLeast) {
    const SegmentOptions plain{.name = "world", .bytes = 1 << 20};
    const SegmentOptions fine{.name = "world", .bytes = 1 << 20, .fine = true};
    const StateRingOptions kinds[] = {
        {.segments = {&plain, 1}, .history_ticks = 20},
        {.segments = {&plain, 1}, .history_ticks = 20, .reader_bytes = 1 << 20},
        {.segments = {&plain, 1}, .history_ticks = 20, .packing = true},
        {.segments = {&plain, 1}, .packing = true, .thinned_ticks = 100, .thin_every = 10},
        {.segments = {&fine, 1}, .history_ticks = 20},
    };
    for (StateRingOptions options : kinds) {
        const auto least = StateRing::least_history_bytes(options);
        ASSERT_TRUE(least);
        options.history_bytes = *least - 1;
        const Refused result = refused(options);
        EXPECT_EQ(result.status, Status::budget_exceeded);
        EXPECT_EQ(result.why.bound, *least);
        options.history_bytes = *least;
        auto ring = StateRing::create(options);
        ASSERT_TRUE(ring) << status_name(ring.status());
        const MemoryBlock world = *ring->segment_block("world");
        for (int tick = 1; tick < 10; ++tick) {
            for (std::size_t at = 0; at < world.size; at += kStatePageBytes)
                world.data[at] = static_cast<std::byte>(tick);
            ASSERT_EQ(ring->mark(world.data, world.size), Status::ok);
            ASSERT_TRUE(ring->commit());
        }
        ASSERT_TRUE(ring->rollback(ring->newest() - 1));
        EXPECT_EQ(world.data[0], std::byte{8});
    }
}

// What the system is asked for, to the end of the last page, is within the bound.
TEST(RingRefusal, ABoundThatIsNoMultipleOfAPageIsNotExceeded) {
    const SegmentOptions world{.name = "world", .bytes = 1 << 20};
    for (const bool packing : {false, true}) {
        StateRingOptions options{
            .segments = {&world, 1}, .history_ticks = 20, .packing = packing, .name = "bounded"};
        const auto least = StateRing::least_history_bytes(options);
        ASSERT_TRUE(least);
        for (const std::uint64_t more : {0U, 1U, 100U, 4095U, 4096U, 70'001U, 123'457U}) {
            options.history_bytes = *least + more;
            const auto ring = StateRing::create(options);
            ASSERT_TRUE(ring) << more;
            std::vector<BlockInfo> blocks(200);
            blocks.resize(std::min(snapshot_blocks(blocks), blocks.size()));
            const auto history = std::ranges::find(blocks, "bounded: history", &BlockInfo::name);
            ASSERT_NE(history, blocks.end());
            EXPECT_LE(history->committed_bytes, options.history_bytes) << more;
            EXPECT_EQ(history->committed_bytes, ring->stats().history_bytes) << more;
        }
    }
}

// What nobody could use is not taken, and what is taken is enough for all that can be kept at once.
TEST(RingRefusal, NoMoreIsTakenThanCanBeUsed) {
    const SegmentOptions world{.name = "world", .bytes = 64 << 10};
    for (const bool packing : {false, true}) {
        StateRingOptions options{.segments = {&world, 1},
                                 .history_ticks = 2,
                                 .history_bytes = ~std::uint64_t{0},
                                 .packing = packing,
                                 .dense_ticks = 2};
        auto ring = StateRing::create(options);
        ASSERT_TRUE(ring) << status_name(ring.status());
        const std::uint64_t taken = ring->stats().history_bytes;
        EXPECT_LT(taken, 128U << 20);
        options.history_bytes = taken - 1;
        EXPECT_LT(StateRing::create(options)->stats().history_bytes, taken);

        const MemoryBlock memory = *ring->segment_block("world");
        std::uint32_t number = 0;
        const auto run = [&](Tick until) {
            while (ring->newest() < until) {
                for (std::size_t at = 0; at < memory.size; at += 4)
                    *reinterpret_cast<std::uint32_t*>(memory.data + at) = ++number * 2654435761U;
                ASSERT_EQ(ring->mark(memory.data, memory.size), Status::ok);
                ASSERT_TRUE(ring->commit());
            }
        };
        for (int future = 0; future < 48; ++future) {
            run(4);
            const auto kept = ring->branch(2);
            ASSERT_TRUE(kept) << future << ": " << status_name(kept.status());
        }
        run(4);
        EXPECT_EQ(ring->oldest(), 2U);
        EXPECT_TRUE(ring->view(3));
        EXPECT_EQ(ring->check(), Status::ok);
    }
}

// Where no bound would do, none is named.
TEST(RingRefusal, MoreThanAnyHistoryCanHaveIsToldAsSuch) {
    const SegmentOptions world{.name = "world", .bytes = 1 << 20};
    for (const bool packing : {false, true}) {
        for (const std::uint64_t reader_bytes : {std::uint64_t{1} << 44, (std::uint64_t{1} << 44) + (1 << 20),
                                                 std::uint64_t{1} << 45, ~std::uint64_t{0}}) {
            StateRingOptions options{.segments = {&world, 1},
                                     .history_bytes = ~std::uint64_t{0},
                                     .reader_bytes = reader_bytes,
                                     .packing = packing};
            const Refused result = refused(options);
            EXPECT_EQ(result.status, Status::size_overflow);
            EXPECT_EQ(result.why.fault, RingFault::history_pages);
            EXPECT_EQ(result.why.bound, packing ? (1U << 23) - 1 : (1U << 31) - 1);
            EXPECT_GE(result.why.value, reader_bytes / kStatePageBytes + 2 * world.bytes / kStatePageBytes);
            EXPECT_EQ(result.text, "these segments and reader_bytes need a history of " +
                                       std::to_string(result.why.value) + " pages, where " +
                                       std::to_string(result.why.bound) + " are the most (size_overflow)");
            EXPECT_EQ(StateRing::least_history_bytes(options).status(), Status::size_overflow);
            // As many as there can be, and one more.
            options.reader_bytes -= (result.why.value - result.why.bound) * kStatePageBytes;
            EXPECT_GT(StateRing::least_history_bytes(options).value_or(0),
                      result.why.bound * kStatePageBytes);
            options.reader_bytes += kStatePageBytes;
            EXPECT_EQ(StateRing::least_history_bytes(options).status(), Status::size_overflow);
        }
    }
}

TEST(RingRefusal, NothingIsToldWhereNothingWasRefused) {
    const SegmentOptions world{.name = "world", .bytes = 1 << 20};
    RingRefusal why{.status = Status::os_error};
    EXPECT_TRUE(StateRing::create({.segments = {&world, 1}, .history_bytes = 8 << 20}, &why));
    std::array<char, 64> text{};
    EXPECT_EQ(describe_refusal(why, text), "nothing was refused");
    EXPECT_EQ(describe_refusal(why, {}), "");
    EXPECT_EQ(StateRing::least_history_bytes({}).status(), Status::zero_size);
}

TEST(RingRefusal, SegmentsThatOverlapAreBothNamed) {
    const Refused result = refused({{.name = "terrain", .bytes = 4 * kUnit, .offset = kUnit},
                                    {.name = "towns", .bytes = kUnit, .offset = 4 * kUnit}});
    EXPECT_EQ(result.status, Status::address_in_use);
    EXPECT_EQ(result.text,
              "segment 'towns' at offset 262144 overlaps 'terrain', which ends at 327680 (address_in_use)");
}

TEST(RingRefusal, PlacesAndSizesAreToldInNumbers) {
    Refused result = refused({{.name = "terrain", .bytes = kUnit, .offset = kUnit + 100}});
    EXPECT_EQ(result.status, Status::bad_alignment);
    EXPECT_EQ(result.text,
              "segment 'terrain' is to lie at offset 65636, which is no multiple of 65536 (bad_alignment)");

    result = refused({{.name = "terrain", .bytes = std::uint64_t{5} << 30}});
    EXPECT_EQ(result.status, Status::size_overflow);
    EXPECT_EQ(result.text,
              "segment 'terrain' would end at 5368774656 bytes; an image has 4294967296 at the "
              "most (size_overflow)");
    EXPECT_EQ(refused({{.name = "terrain", .bytes = ~std::uint64_t{0}}}).status, Status::size_overflow);
    EXPECT_EQ(refused({{.name = "terrain", .bytes = kUnit, .offset = ~(kUnit - 1)}}).status,
              Status::size_overflow);

    std::vector<SegmentOptions> many;
    std::vector<std::string> names(33);
    for (std::string& name : names) {
        name = std::to_string(&name - names.data());
        many.push_back({.name = name, .bytes = kUnit});
    }
    result = refused(many);
    EXPECT_EQ(result.status, Status::capacity_exhausted);
    EXPECT_EQ(result.text, "33 segments, where 32 are the most that an image can have (capacity_exhausted)");
}

TEST(RingRefusal, NamesAndKindsAreTold) {
    EXPECT_EQ(refused(std::vector<SegmentOptions>{}).text, "there are no segments (zero_size)");
    EXPECT_EQ(refused({{.name = "a", .bytes = 0}}).text, "segment 'a' has no bytes (zero_size)");
    EXPECT_EQ(refused({{.name = "a", .bytes = kUnit}, {.name = "a", .bytes = kUnit}}).text,
              "segment 'a' is there twice; each has a name of its own (bad_argument)");
    EXPECT_EQ(refused({{.name = "", .bytes = kUnit}}).text,
              "a segment's name '' has 0 characters, where it can have 1 to 31 (bad_argument)");
    const Refused named = refused({{.name = "a name that is longer than any segment's", .bytes = kUnit}});
    EXPECT_EQ(named.why.segment(), "a name that is longer than any ");
    EXPECT_EQ(named.why.value, 40U);
    EXPECT_EQ(refused({{.name = "a", .bytes = kUnit, .kind = SegmentKind{7}}}).text,
              "segment 'a' is neither portable nor process-bound (bad_argument)");
    EXPECT_EQ(refused({{.name = "a", .bytes = kUnit, .tracking = Tracking::compare, .fine = true}}).text,
              "segment 'a' is fine, which needs declared tracking (bad_argument)");
}

TEST(RingRefusal, TicksAndThinningAreTold) {
    const SegmentOptions world{.name = "world", .bytes = 1 << 20};
    StateRingOptions options{.segments = {&world, 1}, .history_ticks = 0};
    EXPECT_EQ(refused(options).text,
              "history_ticks, thinned_ticks and dense_ticks make 0 ticks, where 1 to "
              "1073741823 can be kept, and at least one whole (bad_argument)");
    options.history_ticks = 10;
    options.thinned_ticks = 100;
    options.thin_every = 10;
    EXPECT_EQ(refused(options).text,
              "thinned_ticks need packing, and thin_every from 2 to 256 (bad_argument)");
}

}  // namespace
}  // namespace ouro
