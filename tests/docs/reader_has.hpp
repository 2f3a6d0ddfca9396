// What the blocks of C++ in the pages on streams and the state ring take for granted.
#pragma once

#include <ouro/streams/foreign_heap.hpp>
#include <ouro/streams/image_heap.hpp>
#include <ouro/streams/memory_table.hpp>
#include <ouro/streams/state_ring.hpp>
#include <ouro/streams/verifier.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

void log(std::string_view line);

extern ouro::Expected<ouro::MemoryTable> table;
extern const ouro::Tag tag;
extern const std::size_t bytes;
extern std::array<char, 200> text;

struct DrawCommand {
    std::uint32_t mesh;
};
struct Vertex {
    float x, y, z;
};
struct ProgressBar {};
extern ProgressBar bar;
bool show(const ouro::LoadProgress& progress, void* context);

extern ouro::StateRing ring;
extern ouro::StateRingOptions options;
extern const std::span<const ouro::SegmentOptions> segments;
extern const std::span<const ouro::OwnerSource> sources;
extern void* changed_address;
extern std::size_t changed_bytes;
void simulate(ouro::MemoryBlock memory);

struct House {
    std::uint32_t rooms;
};
struct Citizen {
    std::uint32_t age;
};
struct Town {
    ouro::SimVec<House> houses;
    ouro::SimMap<ouro::FixedString<15>, std::uint32_t> prices;
    ouro::SimPool<Citizen> citizens;
};
extern ouro::Expected<ouro::ImageHeap> heap;
extern ouro::Tick tick;
extern std::uint32_t count;
extern std::span<House> span;
void print(ouro::SimHandle<Citizen> name, const Citizen& citizen);

struct lua_State;
lua_State* lua_newstate(void* (*allocate)(void* heap, void* block, std::size_t old_size, std::size_t size),
                        void* heap);
void* allocate_from_heap(void* heap, void* block, std::size_t old_size, std::size_t size);
void simulate(lua_State* lua);
