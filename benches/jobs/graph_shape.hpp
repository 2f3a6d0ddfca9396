#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ouro::bench {

// Which tasks wait for which; numbered so that none waits for a later one.
struct GraphShape {
    struct Edge {
        std::uint32_t before = 0;
        std::uint32_t after = 0;
    };
    std::uint32_t tasks = 0;
    std::vector<Edge> edges;
};

// Each task of a layer waits for two of the layer before it.
[[nodiscard]] inline GraphShape layered_graph(std::uint32_t layers, std::uint32_t width) {
    GraphShape shape{layers * width, {}};
    for (std::uint32_t task = width; task < shape.tasks; ++task) {
        const std::uint32_t above = task - width;
        const std::uint32_t row = above / width * width;
        shape.edges.push_back({above, task});
        shape.edges.push_back({row + (above - row + 1) % width, task});
    }
    return shape;
}

// Each cell of a square waits for those above it and to its left.
[[nodiscard]] inline GraphShape wavefront_graph(std::uint32_t side) {
    GraphShape shape{side * side, {}};
    for (std::uint32_t task = 1; task < shape.tasks; ++task) {
        if (task >= side) shape.edges.push_back({task - side, task});
        if (task % side != 0) shape.edges.push_back({task - 1, task});
    }
    return shape;
}

// All but two wait for the first, and the last waits for all.
[[nodiscard]] inline GraphShape fan_graph(std::uint32_t tasks) {
    GraphShape shape{tasks, {}};
    for (std::uint32_t task = 1; task + 1 < tasks; ++task) {
        shape.edges.push_back({0, task});
        shape.edges.push_back({task, tasks - 1});
    }
    return shape;
}

}  // namespace ouro::bench
