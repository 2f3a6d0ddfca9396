#pragma once

#include <ouro/ecs/schedule.hpp>
#include <ouro/ecs/world.hpp>

#include <array>
#include <cstdint>

// Small worlds for comparing bytes between builds and numbers of threads. Relations, names and prefabs are in
// the campaign instead.
namespace ouro::testing_support {

// What a scene needs beside its world.
class Scene {
public:
    Scene() = default;
    Scene(const Scene&) = delete;
    Scene& operator=(const Scene&) = delete;
    virtual ~Scene() = default;

    // Makes the state of the first tick, and adds the systems.
    virtual Status begin(World& world, Schedule& schedule) = 0;
};

inline constexpr std::size_t kGoldenScenes = 6;
[[nodiscard]] const char* golden_scene_name(std::size_t number);
// The caller's, until it is given back.
[[nodiscard]] Scene* make_golden_scene(std::size_t number);
void end_golden_scene(Scene* scene);

}  // namespace ouro::testing_support
