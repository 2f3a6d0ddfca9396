// A world in one range of addresses: a table, its streams, the state of the simulation among them, and what
// it says when one of them is full.
#include <ouro/streams/block_listing.hpp>
#include <ouro/streams/memory_table.hpp>
#include <ouro/streams/state_ring.hpp>

#include <array>
#include <cstdio>
#include <string_view>

namespace {

constexpr std::size_t kMib = std::size_t{1} << 20;

void print(void*, std::string_view text) {
    std::printf("%.*s", static_cast<int>(text.size()), text.data());
}

}  // namespace

int main() {
    auto table = ouro::MemoryTable::create({.name = "world"});
    if (!table) return 1;
    auto terrain = table->open_stream({.name = "terrain", .reserve_bytes = 512 * kMib});
    auto sounds = table->open_stream({.name = "sounds", .reserve_bytes = 4 * kMib});
    if (!terrain || !sounds) return 1;

    // Two streams more: the state, and its history.
    const ouro::SegmentOptions town{.name = "town", .bytes = 8 * kMib};
    auto state =
        ouro::StateRing::create({.segments = {&town, 1}, .history_bytes = 32 * kMib, .table = &*table});
    if (!state || !table->range().contains(state->image()) || table->stats().streams != 4) return 1;

    // A tick that writes two of its eight megabytes.
    state->mark(state->segment_block("town")->data, 2 * kMib);
    if (!state->commit()) return 1;

    // Addresses cost nothing; memory comes as the cursor needs it.
    const auto heights = terrain->take(3 * kMib, 64);
    if (!heights) return 1;
    heights->data[0] = std::byte{42};

    const auto song = sounds->take(5 * kMib, 64);
    std::array<char, 200> text{};
    describe_refusal(table->last_refusal(), text);
    std::printf("%s\n\n", text.data());

    ouro::write_blocks_text({print, nullptr});

    const std::byte* const place = terrain->range().data;
    terrain->close();
    auto caves = table->open_stream({.name = "caves", .reserve_bytes = 64 * kMib});
    const bool is_reused = caves && caves->range().data == place;
    return !song && is_reused && table->check() == ouro::Status::ok ? 0 : 1;
}
