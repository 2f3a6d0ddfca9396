#pragma once

#include <ouro/os/loaded_library.hpp>
#include <ouro/os/steady_stack.hpp>
#include <ouro/streams/foreign_heap.hpp>
#include <ouro/streams/library_state.hpp>
#include <ouro/streams/state_ring.hpp>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace ouro::testing_support {

// A stack for the handlers of signals, so that faults leave nothing below the code that they interrupt.
class SignalStack {
public:
    SignalStack() : memory_(256 << 10) {
        stack_t stack{};
        stack.ss_sp = memory_.data();
        stack.ss_size = memory_.size();
        EXPECT_EQ(::sigaltstack(&stack, &before_), 0);
    }
    ~SignalStack() { ::sigaltstack(&before_, nullptr); }
    SignalStack(const SignalStack&) = delete;
    SignalStack& operator=(const SignalStack&) = delete;

private:
    std::vector<std::byte> memory_;
    stack_t before_{};
};

// A scene of benches/ring in a ring, with or without the variables of its libraries.
template <class Scene>
class ForeignWorld {
public:
    static constexpr std::uint32_t kHistoryTicks = 64;

    struct Options {
        Tracking tracking = Tracking::kernel;
        bool keeps_libraries = true;
    };

    // Ends the test's function when there is no such tracking, or when something fails.
    void start(const Options& options) {
        const std::array segments = {
            SegmentOptions{.name = "foreign",
                           .bytes = Scene::kSegmentBytes,
                           .kind = SegmentKind::process_bound,
                           .tracking = options.tracking},
            SegmentOptions{.name = "outside", .bytes = 128 << 10, .kind = SegmentKind::process_bound}};
        auto ring = StateRing::create({.segments = segments,
                                       .history_ticks = kHistoryTicks,
                                       .history_bytes = std::uint64_t{256} << 20});
        if (ring.status() == Status::not_supported) {
            GTEST_SKIP() << "needs "
                         << (options.tracking == Tracking::kernel ? "userfaultfd_wp_async"
                                                                  : "page_protection");
        }
        ASSERT_TRUE(ring) << status_name(ring.status());
        if (options.tracking == Tracking::protect) signals_.emplace();
        ring_ = *std::move(ring);
        for (const std::string_view library : Scene::kLibraries) {
            const auto data = os::find_library_data(library);
            ASSERT_TRUE(data) << library << ": " << status_name(data.status());
            outside_.insert(outside_.end(), data->ranges().begin(), data->ranges().end());
            if (!options.keeps_libraries) continue;
            const auto kept = keep_library(ring_, "outside", library);
            ASSERT_TRUE(kept) << library << ": " << status_name(kept.status());
            ASSERT_EQ(*kept, data->bytes());
        }
        auto heap = ForeignHeap::create(ring_, "foreign");
        ASSERT_TRUE(heap) << status_name(heap.status());
        heap_.emplace_back(*heap);
        scene_ = Scene::create(heap_.front());
        first_ = commit();
    }
    ~ForeignWorld() {
        if constexpr (requires { Scene::end(scene_); }) {
            if (scene_ != nullptr) Scene::end(scene_);
        }
    }
    ForeignWorld() = default;
    ForeignWorld(const ForeignWorld&) = delete;
    ForeignWorld& operator=(const ForeignWorld&) = delete;

    [[nodiscard]] StateRing& ring() { return ring_; }
    [[nodiscard]] ForeignHeap& heap() { return heap_.front(); }
    [[nodiscard]] Scene& scene() { return *scene_; }
    // The tick in which the scene was ready.
    [[nodiscard]] Tick first() const { return first_; }
    // What was found of the libraries' variables, kept or not.
    [[nodiscard]] const std::vector<MemoryBlock>& outside() const { return outside_; }

    // SQLite leaves addresses of the stack in its heap.
    void step() {
        EXPECT_EQ(stack_.call([&] { scene_->step(ring_.newest() + 1); }), Status::ok);
    }
    Tick commit() {
        const auto tick = ring_.commit();
        EXPECT_TRUE(tick) << status_name(tick.status());
        return tick.value_or(0);
    }
    void advance(Tick ticks) {
        for (Tick tick = 0; tick < ticks; ++tick) {
            step();
            commit();
        }
    }
    [[nodiscard]] std::uint64_t hash(Tick tick) const {
        return ring_.hash(tick, SegmentKind::process_bound).value_or(0);
    }

private:
    StateRing ring_;
    // One, at an address that stays.
    std::vector<ForeignHeap> heap_;
    os::SteadyStack stack_;
    std::optional<SignalStack> signals_;
    Scene* scene_ = nullptr;
    Tick first_ = 0;
    std::vector<MemoryBlock> outside_;
};

// Everything that must come back, and the hash.
struct WholeState {
    std::vector<std::byte> image;
    std::vector<std::byte> outside;
    std::uint64_t hash = 0;

    template <class Scene>
    static WholeState of(ForeignWorld<Scene>& world) {
        WholeState state;
        const MemoryBlock image = world.ring().image();
        state.image.assign(image.begin(), image.end());
        for (const MemoryBlock& range : world.outside())
            state.outside.insert(state.outside.end(), range.begin(), range.end());
        state.hash = world.hash(world.ring().newest());
        return state;
    }

    // Empty, or where they differ first.
    template <class Scene>
    [[nodiscard]] std::string difference(ForeignWorld<Scene>& world) const {
        const MemoryBlock now = world.ring().image();
        if (std::memcmp(image.data(), now.data, now.size) != 0) {
            const auto at = std::mismatch(image.begin(), image.end(), now.begin()).first - image.begin();
            return "the image differs at " + std::to_string(at) + ": " + word_at(image.data(), at) +
                   " was, " + word_at(now.data, at) + " is";
        }
        std::size_t offset = 0;
        for (const MemoryBlock& range : world.outside()) {
            if (std::memcmp(outside.data() + offset, range.data, range.size) != 0) {
                std::size_t at = 0;
                while (outside[offset + at] == range.data[at])
                    ++at;
                return "the variables differ at " + std::to_string(offset + at);
            }
            offset += range.size;
        }
        return world.hash(world.ring().newest()) == hash ? "" : "the hashes differ";
    }

private:
    static std::string word_at(const std::byte* bytes, std::ptrdiff_t at) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes + at / 8 * 8, sizeof(word));
        std::array<char, 24> text{};
        std::snprintf(text.data(), text.size(), "%#llx", static_cast<unsigned long long>(word));
        return text.data();
    }
};

}  // namespace ouro::testing_support
