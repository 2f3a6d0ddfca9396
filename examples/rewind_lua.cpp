// A Lua script with coroutines and closures is rolled back, though neither it nor Lua knows: all that Lua
// allocates lies in a segment whose writes are found by the system.
#include <ouro/streams/foreign_heap.hpp>
#include <ouro/streams/state_ring.hpp>

#include <cstdio>

#include <lua.hpp>

static const char* const kScript = R"(
    local function patrol(name)
        return coroutine.wrap(function()
            for lap = 1, math.huge do
                for _, place in ipairs{"gate", "tower", "well"} do
                    coroutine.yield(name .. " is at the " .. place .. ", lap " .. lap)
                end
            end
        end)
    end
    local guards = { patrol("Ada"), patrol("Bo") }
    function step() for id, guard in ipairs(guards) do last = guard(); if math.random(3) == 1 then break end end end
)";

// What the script says last; in a buffer, since Lua's own text is rolled back too.
static void tick(ouro::StateRing& ring, lua_State* lua, char (&said)[64]) {
    lua_getglobal(lua, "step");
    if (lua_pcall(lua, 0, 0, 0) != LUA_OK || !ring.commit()) return;
    lua_getglobal(lua, "last");
    std::snprintf(said, sizeof said, "%s", lua_tostring(lua, -1));
    lua_pop(lua, 1);
}

int main() {
    const ouro::SegmentOptions script{.name = "script",
                                      .bytes = 4 << 20,
                                      .kind = ouro::SegmentKind::process_bound,
                                      .tracking = ouro::Tracking::automatic};
    auto ring = ouro::StateRing::create({.segments = {&script, 1}, .history_bytes = 64 << 20});
    if (!ring) return 1;
    auto heap = ouro::ForeignHeap::create(*ring, "script");
    if (!heap) return 1;
    lua_State* lua = lua_newstate(
        [](void* memory, void* block, std::size_t, std::size_t bytes) {
            return static_cast<ouro::ForeignHeap*>(memory)->resize_unsized(block, bytes);
        },
        &*heap);
    luaL_openlibs(lua);
    if (luaL_dostring(lua, kScript) != LUA_OK) return 1;

    char first[64] = {};
    char again[64] = {};
    for (int count = 0; count < 100; ++count)
        tick(*ring, lua, first);
    const std::uint64_t hash = *ring->hash(100, ouro::SegmentKind::process_bound);
    std::printf("tick 100: %s\n", first);

    if (!ring->rollback(40)) return 1;  // the coroutines stand where they stood, the random numbers too
    for (int count = 40; count < 100; ++count)
        tick(*ring, lua, again);
    const bool is_same = *ring->hash(100, ouro::SegmentKind::process_bound) == hash;
    std::printf("from 40 to 100 again: %s (%s)\n", again, is_same ? "every byte the same" : "other bytes");
    lua_close(lua);
    return is_same && heap->check() == ouro::Status::ok ? 0 : 1;
}
