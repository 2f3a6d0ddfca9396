#include "ring/bullet_scene.hpp"
#include "ring/foreign_cases.hpp"

namespace ouro::bench {
namespace {

void measure(Session& session) {
    const int bodies = static_cast<int>(session.sized(1000, 50));
    measure_foreign<scenes::BulletScene>(session, "bodies", bodies, std::size_t{16} << 20);
}

const bool kRegistered = (foreign_measures().push_back(measure), true);

}  // namespace
}  // namespace ouro::bench
