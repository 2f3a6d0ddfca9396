#pragma once

#include <ouro/streams/foreign_heap.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <lua.hpp>

namespace ouro::scenes {

// Agents that are tables, coroutines and closures, with strings made and dropped each tick, by Lua: its whole
// state in a foreign heap. Lua keeps nothing elsewhere.
class LuaScene {
public:
    static constexpr std::string_view kName = "Lua";
    static constexpr std::array<std::string_view, 0> kLibraries = {};
    static constexpr std::size_t kSegmentBytes = std::size_t{4} << 20;

    static LuaScene* create(ForeignHeap& heap, int agents = 200) {
        void* memory = heap.allocate_unsized(sizeof(LuaScene));
        return ::new (memory) LuaScene(heap, agents);
    }

    LuaScene(ForeignHeap& heap, int agents) {
        lua_ = lua_newstate(
            [](void* context, void* block, std::size_t, std::size_t bytes) {
                return static_cast<ForeignHeap*>(context)->resize_unsized(block, bytes);
            },
            &heap);
        luaL_openlibs(lua_);
        must(luaL_dostring(lua_, kScript));
        call("begin", agents);
    }

    void step(std::uint64_t tick) { call("step", static_cast<lua_Integer>(tick)); }

    [[nodiscard]] lua_State* state() { return lua_; }
    // A number that depends on all that the script did.
    [[nodiscard]] lua_Integer checksum() {
        lua_getglobal(lua_, "checksum");
        const lua_Integer value = lua_tointeger(lua_, -1);
        lua_pop(lua_, 1);
        return value;
    }

private:
    void must(int outcome) {
        if (outcome == LUA_OK) return;
        std::fprintf(stderr, "Lua: %s\n", lua_tostring(lua_, -1));
        std::abort();
    }
    void call(const char* function, lua_Integer argument) {
        lua_getglobal(lua_, function);
        lua_pushinteger(lua_, argument);
        must(lua_pcall(lua_, 1, 0, 0));
    }

    static constexpr const char* kScript = R"(
        agents, names, checksum = {}, {}, 0

        local function brain(id)
            local seen = 0
            local function remember(text)          -- a closure over what this agent saw
                seen = seen + #text
                return seen
            end
            return coroutine.create(function(tick)
                local path = {}
                while true do
                    for stage = 1, 3 do
                        path[#path + 1] = { x = id * stage, y = tick, note = "agent " .. id .. " at " .. tick }
                        tick = coroutine.yield(remember(path[#path].note))
                    end
                    if #path > 12 then path = {} end   -- garbage for the collector
                end
            end)
        end

        function begin(count)
            for id = 1, count do agents[id] = brain(id) end
        end

        function step(tick)
            for turn = 1, #agents // 4 do
                local id = (tick * 31 + turn * 7) % #agents + 1
                local ok, value = coroutine.resume(agents[id], tick)
                if not ok then error(value) end
                checksum = (checksum * 31 + value) & 0x7fffffffffff
            end
            if tick % 5 == 0 then agents[tick % #agents + 1] = brain(tick) end
            names[string.format("%x", checksum % 4096)] = tick
            for name, when in pairs(names) do      -- in the order of addresses and seeds
                if when < tick - 40 then names[name] = nil end
                checksum = checksum ~ #name
            end
            checksum = checksum + math.random(1000)
            if tick % 11 == 0 then collectgarbage("step") end
        end
    )";

    lua_State* lua_ = nullptr;
};

}  // namespace ouro::scenes
