// A tower of boxes, simulated by Bullet, falls over and is rolled back. Bullet takes its memory through a
// hook, counts its bodies in variables, and has three objects that do not ask the hook.
#include <ouro/os/steady_stack.hpp>
#include <ouro/streams/escape_scope.hpp>
#include <ouro/streams/foreign_heap.hpp>
#include <ouro/streams/library_state.hpp>

#include <array>
#include <cstdio>
#include <new>
#include <optional>

#include <btBulletDynamicsCommon.h>

// Bullet's hook has no context.
static std::optional<ouro::ForeignHeap> heap;

template <class T, class... Arguments>
static T* place(Arguments... arguments) {
    return ::new (heap->allocate_unsized(sizeof(T), alignof(T))) T(arguments...);
}

static btRigidBody* add_box(btDynamicsWorld& world, btCollisionShape* shape, float mass, btVector3 at) {
    btVector3 inertia(0, 0, 0);
    if (mass != 0) shape->calculateLocalInertia(mass, inertia);
    auto* body = new btRigidBody(mass, nullptr, shape, inertia);
    body->setWorldTransform(btTransform(btQuaternion::getIdentity(), at));
    world.addRigidBody(body);
    return body;
}

// These three do not ask the hook: with plain `new` they would lie in the process's heap, and stay there.
static btDynamicsWorld* make_world() {
    auto* configuration = place<btDefaultCollisionConfiguration>();
    auto* dispatcher = place<btCollisionDispatcher>(configuration);
    auto* broadphase = place<btDbvtBroadphase>();
    auto* solver = new btSequentialImpulseConstraintSolver;
    return new btDiscreteDynamicsWorld(dispatcher, broadphase, solver, configuration);
}

int main() {
    constexpr auto kBound = ouro::SegmentKind::process_bound;
    const std::array segments = {
        ouro::SegmentOptions{
            .name = "physics", .bytes = 16 << 20, .kind = kBound, .tracking = ouro::Tracking::automatic},
        ouro::SegmentOptions{.name = "variables", .bytes = 64 << 10, .kind = kBound}};
    auto ring = ouro::StateRing::create({.segments = segments, .history_bytes = 256 << 20});
    if (!ring || !keep_library(*ring, "variables", "libBulletDynamics") ||
        !keep_library(*ring, "variables", "libBulletCollision"))
        return 1;
    heap = *ouro::ForeignHeap::create(*ring, "physics");
    btAlignedAllocSetCustomAligned(
        [](std::size_t bytes, int alignment) {
            return heap->allocate_unsized(bytes, static_cast<std::size_t>(alignment));
        },
        [](void* block) { heap->free_unsized(block); });

    // Counts what is taken from the process instead.
    const std::string_view watched[] = {ouro::os::HeapCallWatch::kProgram, "libBulletDynamics"};
    auto scope = ouro::EscapeScope::begin(watched);
    btDynamicsWorld* world = make_world();
    add_box(*world, new btBoxShape(btVector3(50, 1, 50)), 0, btVector3(0, -1, 0));
    auto* cube = new btBoxShape(btVector3(0.5F, 0.5F, 0.5F));
    btRigidBody* top = nullptr;
    for (int level = 0; level < 20; ++level)
        top = add_box(*world, cube, 1, btVector3(0, 0.5F + float(level), 0));
    if (!scope || scope->calls() != 0) return 1;

    ouro::os::SteadyStack stack;  // Bullet copies gaps between members from its stack into its heap
    const auto run_to = [&](ouro::Tick tick, float wind) {
        while (ring->newest() < tick) {
            top->applyCentralForce(btVector3(wind, 0, 0));
            const auto status = stack.call([&] { world->stepSimulation(1.0F / 60, 1); });
            if (status != ouro::Status::ok || !ring->commit()) return;
        }
    };
    run_to(200, 8);
    const std::uint64_t hash = *ring->hash(200, kBound);
    std::printf("in the wind, the top box is at height %.2f after 200 ticks\n",
                double(top->getWorldTransform().getOrigin().y()));
    if (!ring->rollback(10)) return 1;
    run_to(200, 0);
    std::printf("without, at %.2f\n", double(top->getWorldTransform().getOrigin().y()));
    if (!ring->rollback(10)) return 1;
    run_to(200, 8);
    const bool is_same = *ring->hash(200, kBound) == hash;
    std::printf("in the wind again: %s\n", is_same ? "every byte as before" : "other bytes");
    return is_same ? 0 : 1;
}
