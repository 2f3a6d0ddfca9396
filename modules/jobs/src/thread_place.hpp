#pragma once

namespace ouro::detail {

class GraphRun;
class PoolState;

// Where a thread is at this moment.
struct ThreadPlace {
    // As a worker.
    const PoolState* pool = nullptr;
    unsigned participant = 0;
    // The innermost graph one of whose tasks it runs, or a loop that such a task began; and the graph's pool.
    GraphRun* graph = nullptr;
    const PoolState* graph_pool = nullptr;
};

[[gnu::tls_model("initial-exec")]] inline constinit thread_local ThreadPlace t_place;

// This thread works for a graph until the end of the scope, or for none.
class GraphScope {
public:
    GraphScope(const PoolState* pool, GraphRun* graph) noexcept
        : outer_(t_place.graph), outer_pool_(t_place.graph_pool) {
        t_place.graph = graph;
        t_place.graph_pool = pool;
    }
    ~GraphScope() {
        t_place.graph = outer_;
        t_place.graph_pool = outer_pool_;
    }
    GraphScope(const GraphScope&) = delete;
    GraphScope& operator=(const GraphScope&) = delete;

private:
    GraphRun* outer_;
    const PoolState* outer_pool_;
};

}  // namespace ouro::detail
