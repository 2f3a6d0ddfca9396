#pragma once

#include <ouro/streams/foreign_heap.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string_view>

#include <btBulletDynamicsCommon.h>

namespace ouro::scenes {

// Towers of boxes that are pushed over, chains that swing, and boxes that come and go, by Bullet: all of it,
// this object included, in a foreign heap. Bullet's hook has no context, so there is one at a time.
class BulletScene {
public:
    static constexpr std::string_view kName = "Bullet";
    // Count bodies, manifolds and the like.
    static constexpr std::array<std::string_view, 2> kLibraries = {"libBulletDynamics", "libBulletCollision"};
    static constexpr std::size_t kSegmentBytes = std::size_t{8} << 20;

    static BulletScene* create(ForeignHeap& heap, int bodies = 250) {
        use(heap);
        return place<BulletScene>(bodies);
    }

    // Sends what goes through Bullet's hook to the heap.
    static void use(ForeignHeap& heap) {
        heap_in_use() = &heap;
        btAlignedAllocSetCustomAligned(
            [](std::size_t bytes, int alignment) {
                return heap_in_use()->allocate_unsized(bytes, static_cast<std::size_t>(alignment));
            },
            [](void* block) { heap_in_use()->free_unsized(block); });
    }

    explicit BulletScene(int bodies) : limit_(bodies) {
        // These three are made by plain operator new unless they are placed.
        configuration_ = place<btDefaultCollisionConfiguration>();
        dispatcher_ = place<btCollisionDispatcher>(configuration_);
        broadphase_ = place<btDbvtBroadphase>();
        solver_ = new btSequentialImpulseConstraintSolver;
        world_ = new btDiscreteDynamicsWorld(dispatcher_, broadphase_, solver_, configuration_);
        world_->setGravity(btVector3(0, -10, 0));
        box_ = new btBoxShape(btVector3(0.5F, 0.5F, 0.5F));
        auto* ground = new btBoxShape(btVector3(200, 1, 200));
        world_->addRigidBody(make_body(ground, 0, btVector3(0, -1, 0)));
        add_chains();
        for (int index = 0; boxes_.size() < limit_; ++index)
            add_box(place_in_towers(index));
    }

    // What happens in a tick depends on its number and on the state alone.
    void step(std::uint64_t tick) {
        if (tick % 3 == 0) {
            remove_box(static_cast<int>(tick * 7 % static_cast<std::uint64_t>(boxes_.size())));
            add_box(btVector3(static_cast<float>(tick % 9) - 4, 12, static_cast<float>(tick % 5) - 2));
        }
        btRigidBody* pushed = boxes_[static_cast<int>(tick * 13 % static_cast<std::uint64_t>(boxes_.size()))];
        pushed->activate(true);
        pushed->applyCentralImpulse(btVector3(static_cast<float>(tick % 7) - 3, 1, 2));
        world_->stepSimulation(kStep, 1, kStep);
    }

    [[nodiscard]] btDiscreteDynamicsWorld& world() { return *world_; }
    // Of the first box of all that is still there.
    [[nodiscard]] const btTransform& transform() const { return boxes_[0]->getWorldTransform(); }
    [[nodiscard]] int box_count() const { return boxes_.size(); }

private:
    static constexpr float kStep = 1.0F / 60;
    static constexpr int kChains = 4;
    static constexpr int kLinks = 6;

    static ForeignHeap*& heap_in_use() {
        static ForeignHeap* heap = nullptr;
        return heap;
    }

    template <class T, class... Arguments>
    static T* place(Arguments... arguments) {
        void* memory = heap_in_use()->allocate_unsized(sizeof(T), alignof(T));
        return ::new (memory) T(arguments...);
    }

    static btVector3 place_in_towers(int index) {
        constexpr int kTowerHeight = 10;
        const int tower = index / kTowerHeight;
        return {static_cast<float>(tower % 10) * 2.5F - 12, 0.5F + static_cast<float>(index % kTowerHeight),
                static_cast<float>(tower / 10) * 2.5F - 12};
    }

    static btRigidBody* make_body(btCollisionShape* shape, float mass, const btVector3& at) {
        btVector3 inertia(0, 0, 0);
        if (mass != 0) shape->calculateLocalInertia(mass, inertia);
        btRigidBody::btRigidBodyConstructionInfo info(mass, nullptr, shape, inertia);
        info.m_startWorldTransform.setIdentity();
        info.m_startWorldTransform.setOrigin(at);
        return new btRigidBody(info);
    }

    void add_box(const btVector3& at) {
        boxes_.push_back(make_body(box_, 1, at));
        world_->addRigidBody(boxes_[boxes_.size() - 1]);
    }
    void remove_box(int index) {
        btRigidBody* body = boxes_[index];
        world_->removeRigidBody(body);
        delete body;
        boxes_.swap(index, boxes_.size() - 1);
        boxes_.pop_back();
    }
    void add_chains() {
        for (int chain = 0; chain < kChains; ++chain) {
            btRigidBody* above = nullptr;
            for (int link = 0; link < kLinks; ++link) {
                auto* body = make_body(
                    box_, 1,
                    btVector3(static_cast<float>(chain) * 3, 20 - static_cast<float>(link) * 1.5F, 15));
                world_->addRigidBody(body);
                const btVector3 top(0, 0.75F, 0);
                if (above == nullptr)
                    world_->addConstraint(new btPoint2PointConstraint(*body, top));
                else
                    world_->addConstraint(new btPoint2PointConstraint(*body, *above, top, -top), true);
                above = body;
            }
        }
    }

    int limit_;
    btDefaultCollisionConfiguration* configuration_ = nullptr;
    btCollisionDispatcher* dispatcher_ = nullptr;
    btDbvtBroadphase* broadphase_ = nullptr;
    btSequentialImpulseConstraintSolver* solver_ = nullptr;
    btDiscreteDynamicsWorld* world_ = nullptr;
    btBoxShape* box_ = nullptr;
    btAlignedObjectArray<btRigidBody*> boxes_;
};

}  // namespace ouro::scenes
