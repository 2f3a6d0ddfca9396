#include "ring/foreign_cases.hpp"
#include "ring/lua_scene.hpp"

namespace ouro::bench {
namespace {

void measure(Session& session) {
    const int agents = static_cast<int>(session.sized(2000, 50));
    measure_foreign<scenes::LuaScene>(session, "agents", agents, std::size_t{32} << 20);
}

const bool kRegistered = (foreign_measures().push_back(measure), true);

}  // namespace
}  // namespace ouro::bench
