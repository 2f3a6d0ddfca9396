// Two threads fill a frame with draw commands while the renderer still reads the last one. Nobody frees
// anything: a swap ends the frame.
#include <ouro/streams/frame_stream.hpp>

#include <cstdio>
#include <span>
#include <string_view>
#include <thread>

namespace {

struct Draw {
    std::uint32_t mesh;
    float depth;
};

struct Batch {
    std::span<Draw> draws;
    std::string_view label;
};

Batch fill(ouro::FrameWriter& writer, std::string_view label, std::size_t count) {
    Batch batch;
    {
        const ouro::FrameWriterScope scratch(writer);  // what sorting needs is gone before the batch is made
        if (!writer.make_span<std::uint16_t>(count)) return batch;
    }
    if (const auto draws = writer.make_span<Draw>(count)) batch.draws = *draws;
    if (const auto text = writer.make_string(label)) batch.label = *text;
    for (std::size_t i = 0; i < batch.draws.size(); ++i)
        batch.draws[i] = {static_cast<std::uint32_t>(i), 1.0F};
    return batch;
}

}  // namespace

int main() {
    auto table = ouro::MemoryTable::create({.name = "world"});
    if (!table) return 1;
    auto frames = ouro::FrameStream::create(*table, {.name = "frames", .frame_bytes = std::size_t{64} << 20});
    if (!frames) return 1;

    Batch last;
    std::size_t drawn = 0;
    for (int frame = 0; frame < 100; ++frame) {
        Batch trees;
        Batch people;
        std::thread worker([&] {
            ouro::FrameWriter writer = frames->add_writer();
            trees = fill(writer, "trees", 3000);
        });
        {
            ouro::FrameWriter writer = frames->add_writer();
            people = fill(writer, "people", 500);
            for (const Draw& draw : last.draws)  // the frame before, while this one is written
                drawn += draw.depth == 1.0F ? 1U : 0U;
        }
        worker.join();
        last = people.label == "people" && trees.label == "trees" ? trees : Batch{};
        frames->swap();
    }
    const auto stats = frames->stats();
    std::printf("frame %llu: %zu draws read, at most %zu KiB a frame, %zu KiB committed for both\n",
                static_cast<unsigned long long>(stats.frame), drawn, stats.high_water_bytes >> 10,
                stats.committed_bytes >> 10);
    return drawn == 99 * 3000 && frames->check() == ouro::Status::ok ? 0 : 1;
}
