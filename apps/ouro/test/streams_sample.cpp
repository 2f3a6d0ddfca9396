// A program with two worlds: lists its blocks as JSON on one line, writes a recording when a path is given,
// says so, and waits for the end of its input.
#include <ouro/memory/frame_allocator.hpp>
#include <ouro/observe/recording.hpp>
#include <ouro/streams/asset_stack.hpp>
#include <ouro/streams/block_listing.hpp>
#include <ouro/streams/frame_stream.hpp>
#include <ouro/streams/state_ring.hpp>

#include <cstdio>
#include <string_view>

namespace {

constexpr std::size_t kMib = std::size_t{1} << 20;

void write_to_output(void*, std::string_view bytes) {
    std::fwrite(bytes.data(), 1, bytes.size(), stdout);
}

}  // namespace

int main(int argc, char** argv) {
    const auto tag = ouro::register_tag("sample-scenery");
    auto world = ouro::MemoryTable::create({.name = "sample world"});
    auto other = ouro::MemoryTable::create({.name = "other world", .reserve_bytes = 64 * kMib});
    if (!tag || !world || !other) return 1;
    auto frames = ouro::FrameStream::create(*world, {.name = "sample frames", .frame_bytes = 8 * kMib});
    auto assets =
        ouro::AssetStack::create(*other, {.name = "sample assets", .tag = *tag, .max_bytes = 8 * kMib});
    const ouro::SegmentOptions town{.name = "town", .bytes = kMib};
    auto state = ouro::StateRing::create(
        {.segments = {&town, 1}, .history_bytes = 4 * kMib, .table = &*world, .name = "sample state"});
    auto scratch = ouro::FrameAllocator::create({.name = "sample scratch", .max_bytes = kMib});
    if (!frames || !assets || !state || !scratch || !assets->open_scope("level")) return 1;
    ouro::FrameWriter writer = frames->add_writer();
    if (!writer.allocate(100'000) || !assets->allocate("mesh", 123'456) || !scratch->allocate(10)) return 1;
    frames->swap();
    const std::size_t page_bytes = ouro::kStatePageBytes;
    if (state->mark(state->segment_block("town")->data, 3 * page_bytes) != ouro::Status::ok) return 1;
    if (!state->commit()) return 1;
    ouro::write_blocks_json({write_to_output, nullptr});
    if (argc > 1 && !ouro::save_recording(argv[1])) return 1;
    std::puts("ready");
    std::fflush(stdout);
    while (std::getchar() != EOF) {
    }
    return 0;
}
