#include "ecs/ecs_suite.hpp"

#include "harness/suite.hpp"
#include "os/held_pieces.hpp"

#include <optional>

namespace ouro::bench {
namespace {

void run_ecs(Session& session) {
    std::optional<HeldPieces> pieces;
    if (!session.is_quick()) pieces.emplace();
    measure_creation(session);
    measure_destruction(session);
    measure_iteration(session);
    measure_access(session);
    measure_component_changes(session);
    measure_change_detection(session);
    measure_two_threads(session);
    measure_deferred_changes(session);
    measure_saving(session);
    measure_history(session);
    measure_wasm(session);
}

const RegisteredSuite kRegistered({"ecs", "entities and components, beside EnTT, flecs and gaia-ecs",
                                   run_ecs});

}  // namespace
}  // namespace ouro::bench
