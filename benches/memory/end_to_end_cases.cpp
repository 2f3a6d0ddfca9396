// Whole pieces of a game's work, with containers and sizes as they come: building a frame, loading a level.
#include "harness/must.hpp"
#include "memory/frame_work.hpp"
#include "memory/general_case.hpp"
#include "memory/level_work.hpp"
#include "memory/memory_suite.hpp"

#include <ouro/memory/frame_allocator.hpp>

#include <memory_resource>
#include <utility>

namespace ouro::bench {
namespace {

constexpr std::size_t kArenaBytes = std::size_t{64} << 20;

// Our frame allocator in the shape of a heap: what is freed within a frame waits for its end.
class OurFrameHeap {
public:
    explicit OurFrameHeap(FrameAllocator& frame) noexcept : frame_(&frame) {}
    [[nodiscard]] void* allocate(std::size_t size) const noexcept { return frame_->allocate(size, 16)->data; }
    void free(void* object, std::size_t size) const noexcept {
        frame_->deallocate({static_cast<std::byte*>(object), size}, 16);
    }
    void end_frame() const noexcept { frame_->reset(); }
    [[nodiscard]] std::uint64_t held_bytes() const noexcept { return frame_->used_bytes(); }

private:
    FrameAllocator* frame_;
};

class MonotonicHeap {
public:
    MonotonicHeap(std::pmr::monotonic_buffer_resource& resource, const std::byte* buffer) noexcept
        : resource_(&resource), buffer_(buffer) {}
    [[nodiscard]] void* allocate(std::size_t size) const { return resource_->allocate(size); }
    void free(void* object, std::size_t size) const { resource_->deallocate(object, size); }
    void end_frame() const { resource_->release(); }
    // By where the next byte would be.
    [[nodiscard]] std::uint64_t held_bytes() const {
        return static_cast<std::uint64_t>(static_cast<const std::byte*>(resource_->allocate(1, 1)) - buffer_);
    }

private:
    std::pmr::monotonic_buffer_resource* resource_;
    const std::byte* buffer_;
};

void measure_frame(Session& session, const MallocPeers& peers) {
    const std::uint64_t frames = session.sized(20, 1);
    measure_general(
        session, peers, "build a frame", kMicroseconds, {ratio_at_most(1.0), ratio_at_most(1.1)},
        Sharing::one_thread, [](const auto& heap) { return build_frames(heap, [] {}); },
        [&](Case& row) { row.operations(frames); });

    if (only_weighs(peers)) return;
    auto frame = must(FrameAllocator::create({.max_bytes = kArenaBytes}), "make a frame");
    std::vector<std::byte> buffer(kArenaBytes);
    std::pmr::monotonic_buffer_resource monotonic(buffer.data(), buffer.size(),
                                                  std::pmr::null_memory_resource());
    const OurFrameHeap ours(frame);
    const MonotonicHeap standard(monotonic, buffer.data());
    session.measure("build a frame, in a frame allocator", kMicroseconds)
        .ours(build_frames(ours, [ours] { ours.end_frame(); }))
        .peer("pmr::monotonic", standard_library_version(),
              build_frames(standard, [standard] { standard.end_frame(); }))
        .peer(kSystemMalloc, peers.found.front().version,
              with_memory(peers, "build a frame", kSystemMalloc,
                          build_frames(MallocHeap(peers.found.front()), [] {})))
        .bar(ratio_at_most(1.0))
        .operations(frames)
        .run();
}

void measure_level(Session& session, const MallocPeers& peers) {
    const LevelPlan plan{session.sized(400, 20), session.sized(5'000, 100)};
    measure_general(
        session, peers, "load and unload a level", kMilliseconds, {ratio_at_most(1.0), ratio_at_most(1.1)},
        Sharing::one_thread, [&](const auto& heap) { return load_levels(heap, plan); },
        [&](Case& row) {
            row.operations(1).cold().note(
                "blocks of 64 B-1 MiB, names, a table; every page touched, caches cold");
        });
}

}  // namespace

void measure_end_to_end(Session& session, const MallocPeers& peers) {
    measure_frame(session, peers);
    measure_level(session, peers);
}

}  // namespace ouro::bench
