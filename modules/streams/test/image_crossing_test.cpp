// An image that was saved on one platform is loaded on another: the bytes of a saved image lie beside this
// test, every platform makes exactly these of the same simulation, loads them, and simulates on to the same
// hash.
#include "image_crossing_bytes.hpp"

#include <ouro/base/hash.hpp>
#include <ouro/base/random.hpp>
#include <ouro/streams/image_file.hpp>
#include <ouro/streams/image_heap.hpp>
#include <ouro/streams/sim_map.hpp>
#include <ouro/streams/sim_pool.hpp>
#include <ouro/streams/sim_string.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace ouro {
namespace {

using testing_support::kCrossingImage;

// What the image of kCrossingImage is, and what becomes of it in ten ticks more.
constexpr std::uint64_t kSavedHash = 8880607458643233623U;
constexpr std::uint64_t kLaterHash = 13770375371013686953U;
constexpr Tick kSavedTick = 12;

struct Wolf {
    FixedString<11> name;
    float hunger;
    double distance;
    SimHandle<Wolf> leader;
};

struct Forest {
    SimPool<Wolf> wolves;
    SimMap<std::uint32_t, SimHandle<Wolf>> by_number;
    SimVec<std::uint16_t> tracks;
    SimString story;
    std::uint64_t ticks;
};

constexpr std::array kSegments = {
    SegmentOptions{.name = "forest", .bytes = 64 << 10},
    SegmentOptions{.name = "snow", .bytes = 64 << 10},
    SegmentOptions{.name = "scripts", .bytes = 64 << 10, .kind = SegmentKind::process_bound},
};

// A small simulation with its heap in the first segment and plain numbers in the second.
class ForestScene {
public:
    ForestScene() {
        auto ring = StateRing::create({.segments = kSegments, .history_ticks = 8, .history_bytes = 8 << 20});
        EXPECT_TRUE(ring) << status_name(ring.status());
        ring_ = *std::move(ring);
    }

    [[nodiscard]] StateRing& ring() { return ring_; }

    void begin() {
        auto heap = ImageHeap::create(ring_, "forest");
        ASSERT_TRUE(heap);
        ASSERT_TRUE(heap->make_root<Forest>("forest"));
    }

    // The next tick; all that it needs it finds in the image.
    void run_tick() {
        auto heap = ImageHeap::attach(ring_, "forest");
        ASSERT_TRUE(heap) << status_name(heap.status());
        const auto root = heap->root<Forest>("forest");
        ASSERT_TRUE(root) << status_name(root.status());
        const Forest& forest = heap->get(*root);
        const auto tick = static_cast<std::uint32_t>(++heap->edit(forest.ticks));
        add_wolf(*heap, forest, tick);
        for (std::uint32_t number = 1; number < tick; number += 2)
            move_wolf(*heap, forest, number, tick);
        ASSERT_EQ(heap->bind(forest.tracks).push_back(static_cast<std::uint16_t>(tick * 321)), Status::ok);
        ASSERT_EQ(heap->bind(forest.story).append("a tick; "), Status::ok);
        let_it_snow(tick);
        // Belongs to this process, and is not saved.
        std::byte* script = ring_.segment_block("scripts")->data;
        const auto own = reinterpret_cast<std::uintptr_t>(script);
        std::memcpy(script, &own, sizeof(own));
        ASSERT_EQ(ring_.mark(script, sizeof(own)), Status::ok);
        ASSERT_TRUE(ring_.commit());
    }

    void run_ticks(Tick count) {
        for (Tick each = 0; each < count && !testing::Test::HasFatalFailure(); ++each)
            run_tick();
    }

    [[nodiscard]] std::vector<std::uint8_t> saved() const {
        std::vector<std::uint8_t> bytes;
        const ImageSink sink{.write =
                                 [](void* context, std::span<const std::byte> piece) noexcept {
                                     auto& all = *static_cast<std::vector<std::uint8_t>*>(context);
                                     for (const std::byte each : piece)
                                         all.push_back(static_cast<std::uint8_t>(each));
                                     return Status::ok;
                                 },
                             .context = &bytes};
        const auto view = ring_.view(ring_.newest());
        EXPECT_TRUE(view && write_image(*view, sink));
        return bytes;
    }

private:
    static void add_wolf(ImageHeap& heap, const Forest& forest, std::uint32_t tick) {
        const SimHandle<Wolf>* leader = heap.bind(forest.by_number).find(tick / 2);
        const auto wolf = heap.bind(forest.wolves)
                              .create({.name = "wolf",
                                       .hunger = 0.5F,
                                       .distance = 1.0 / tick,
                                       .leader = leader != nullptr ? *leader : SimHandle<Wolf>()});
        ASSERT_TRUE(wolf);
        ASSERT_EQ(heap.bind(forest.by_number).set(tick, *wolf), Status::ok);
    }

    static void move_wolf(ImageHeap& heap, const Forest& forest, std::uint32_t number, std::uint32_t tick) {
        const SimHandle<Wolf>* found = heap.bind(forest.by_number).find(number);
        if (found == nullptr) return;
        Wolf* wolf = heap.bind(forest.wolves).edit(*found);
        ASSERT_NE(wolf, nullptr);
        wolf->hunger = wolf->hunger * 1.25F + 0.1F;
        wolf->distance += static_cast<double>(random_at(number, 0, tick) % 1000) / 7.0;
        if (wolf->hunger < 2.0F) return;
        (void)heap.bind(forest.wolves).destroy(*found);
        heap.bind(forest.by_number).erase(number);
    }

    void let_it_snow(std::uint32_t tick) {
        std::byte* at = ring_.segment_block("snow")->data + std::size_t{tick} % 3 * 10'000;
        std::array<std::uint32_t, 40> depth{};
        std::memcpy(depth.data(), at, sizeof(depth));
        for (std::uint32_t index = 0; index < depth.size(); ++index)
            depth[index] += index * tick;
        std::memcpy(at, depth.data(), sizeof(depth));
        ASSERT_EQ(ring_.mark(at, sizeof(depth)), Status::ok);
    }

    StateRing ring_;
};

// As lines of the header beside this file, for whoever changes what is saved on purpose.
std::string as_source(std::span<const std::uint8_t> bytes) {
    std::string text;
    for (std::size_t index = 0; index < bytes.size(); ++index)
        text += std::to_string(bytes[index]) + (index % 22 == 21 ? ",\n" : ", ");
    return text;
}

Expected<Tick> load(StateRing& ring, std::span<const std::uint8_t> bytes) {
    const std::span<const std::byte> all = std::as_bytes(bytes);
    return read_image(ring, image_source(all));
}

TEST(ImageCrossing, ThisPlatformSavesTheseBytes) {
    ForestScene scene;
    scene.begin();
    scene.run_ticks(kSavedTick);
    ASSERT_FALSE(HasFatalFailure());
    EXPECT_EQ(*scene.ring().hash(kSavedTick), kSavedHash);
    const std::vector<std::uint8_t> bytes = scene.saved();
    EXPECT_TRUE(std::ranges::equal(bytes, kCrossingImage)) << as_source(bytes);
}

TEST(ImageCrossing, WhatAnotherPlatformSavedIsLoadedAndSimulatedOn) {
    ForestScene scene;
    const auto tick = load(scene.ring(), kCrossingImage);
    ASSERT_TRUE(tick) << status_name(tick.status());
    EXPECT_EQ(*scene.ring().hash(*tick), kSavedHash);
    auto heap = ImageHeap::attach(scene.ring(), "forest");
    ASSERT_TRUE(heap);
    EXPECT_EQ(heap->check(), Status::ok);
    const auto root = heap->root<Forest>("forest");
    ASSERT_TRUE(root);
    const Forest& forest = heap->get(*root);
    EXPECT_EQ(forest.ticks, kSavedTick);
    const SimHandle<Wolf>* young = heap->bind(forest.by_number).find(kSavedTick);
    ASSERT_NE(young, nullptr);
    const Wolf* wolf = heap->bind(forest.wolves).find(*young);
    ASSERT_NE(wolf, nullptr);
    EXPECT_EQ(wolf->name, "wolf");
    EXPECT_EQ(wolf->distance, 1.0 / kSavedTick);
    scene.run_ticks(10);
    EXPECT_EQ(*scene.ring().hash(scene.ring().newest()), kLaterHash);
    // And the other way round: what is loaded and what was simulated here from the beginning are one.
    ForestScene fresh;
    fresh.begin();
    fresh.run_ticks(kSavedTick + 10);
    EXPECT_EQ(*fresh.ring().hash(fresh.ring().newest()), kLaterHash);
}

}  // namespace
}  // namespace ouro
