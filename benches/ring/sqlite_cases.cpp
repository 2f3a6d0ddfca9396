#include "ring/foreign_cases.hpp"
#include "ring/sqlite_scene.hpp"

namespace ouro::bench {
namespace {

void measure(Session& session) {
    const int items = static_cast<int>(session.sized(20'000, 500));
    measure_foreign<scenes::SqliteScene>(session, "rows", items, std::size_t{32} << 20);
}

const bool kRegistered = (foreign_measures().push_back(measure), true);

}  // namespace
}  // namespace ouro::bench
